package subject;

import java.util.function.UnaryOperator;

/**
 * A leader's response to a follower's request.
 *
 * @param response the response in the form that Kafka's fetcher code expects
 * @param offsets answers the follower's ListOffsets requests with the leader's offsets at the time of this response;
 *     null if the response cannot lead to a ListOffsets request
 * @param isError whether the response is an error: the broker is not the leader, or the leader epochs differ
 * @param diverges whether the response says that the follower's log diverges from the leader's log
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
