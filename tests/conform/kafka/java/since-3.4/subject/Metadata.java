package subject;

import java.util.List;
import kafka.server.metadata.KRaftMetadataCache;
import org.apache.kafka.common.protocol.ApiMessage;
import org.apache.kafka.image.MetadataDelta;
import org.apache.kafka.image.MetadataImage;
import org.apache.kafka.image.MetadataProvenance;

/** A broker's metadata: the image that results from the controller's records so far. */
final class Metadata {
    private final KRaftMetadataCache cache;
    private MetadataImage image = MetadataImage.EMPTY;

    Metadata(KRaftMetadataCache cache) {
        this.cache = cache;
    }

    MetadataImage image() {
        return image;
    }

    /** Applies the records as one delta, and returns it. */
    MetadataDelta learn(List<Object> records) {
        MetadataDelta delta = new MetadataDelta.Builder().setImage(image).build();
        records.forEach(record -> delta.replay((ApiMessage) record));
        image = delta.apply(new MetadataProvenance(image.provenance().lastContainedOffset() + 1, 1, 0));
        cache.setImage(image);
        return delta;
    }
}
