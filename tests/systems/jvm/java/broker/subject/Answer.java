package subject;

import java.util.function.UnaryOperator;

/**
 * A leader's answer to a follower's request.
 *
 * @param response what Kafka's code expects in reply to the request
 * @param offsets answers the follower's ListOffsets requests, as the leader would have answered them at the same time
 *     as the request; null where the response cannot lead to one
 * @param isError whether it says that the leader does not lead, or not in the epoch of the request
 * @param diverges whether it says that the follower's log is not as the leader's
 */
record Answer(Object response, UnaryOperator<Object> offsets, boolean isError, boolean diverges) {
    Answer(Object response, UnaryOperator<Object> offsets) {
        this(response, offsets, false, false);
    }

    Answer(Object response, UnaryOperator<Object> offsets, boolean isError) {
        this(response, offsets, isError, false);
    }

    static Answer error(Object response) {
        return new Answer(response, null, true);
    }

    static Answer diverging(Object response) {
        return new Answer(response, null, false, true);
    }
}
