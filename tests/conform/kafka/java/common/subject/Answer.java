package subject;

import java.util.function.UnaryOperator;

/**
 * A leader's answer to a follower's request.
 *
 * @param response what Kafka's code expects in reply to the request
 * @param offsets answers the follower's ListOffsets requests, as the leader would have answered them at the same time
 *     as the request; null where the response cannot lead to one
 */
record Answer(Object response, UnaryOperator<Object> offsets) { }
