package subject;

import java.util.List;
import org.apache.kafka.common.protocol.ApiMessage;
import org.apache.kafka.image.MetadataDelta;
import org.apache.kafka.image.MetadataImage;
import org.apache.kafka.image.MetadataProvenance;
import org.apache.kafka.metadata.KRaftMetadataCache;

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
        image = delta.apply(new MetadataProvenance(image.provenance().lastContainedOffset() + 1, 1, 0, true));
        cache.setImage(image);
        return delta;
    }
}
