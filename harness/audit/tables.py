"""Tables: what an audit on Spark keeps in its directory. docs/reference/audit-tables.md says what each column means."""

import pyarrow as pa

_EVENT = (
    pa.field("kind", pa.string()),
    pa.field("file", pa.string()),
    pa.field("line", pa.int64()),
    pa.field("time", pa.int64()),
    pa.field("text", pa.string()),
    pa.field("topic", pa.string()),
    pa.field("partition", pa.int32()),
    pa.field("broker", pa.int32()),
    pa.field("topic_id", pa.string()),
    pa.field("leader_epoch", pa.int32()),
    pa.field("partition_epoch", pa.int32()),
    pa.field("offset", pa.int64()),
    pa.field("end_offset", pa.int64()),
    pa.field("high_watermark", pa.int64()),
    pa.field("isr", pa.list_(pa.int32())),
    pa.field("leader", pa.int32()),
    pa.field("previous_leader", pa.int32()),
    pa.field("previous_epoch", pa.int32()),
    pa.field("origin", pa.string()),
    pa.field("doubtful", pa.bool_()),
)

# What is asked; a directory is of one request.
REQUEST = pa.schema({"request": pa.string()})

# A part of a file that workers read, as JSON.
PARTS = pa.schema({"part": pa.string()})

# Events as they are read: lines are counted within a part, and what is known of the part is a row of its own, last.
READ = pa.schema([*_EVENT, pa.field("part", pa.int64()), pa.field("facts", pa.string())])

EVENTS = pa.schema(_EVENT)

# Where each part begins, whose lines are that name no broker, and whether lines that end with a number are doubted.
PLACES = pa.schema(
    {"file": pa.string(), "part": pa.int64(), "before": pa.int64(), "whose": pa.int32(), "doubted": pa.bool_()}
)

# Whose lines are that name no broker, by what stands before them; null for one that may be of any.
ORIGINS = pa.schema({"file": pa.string(), "origin": pa.string(), "of_origin": pa.int32(), "is_known": pa.bool_()})

FINDINGS = pa.schema(
    {
        "what": pa.string(),
        "topic": pa.string(),
        "partition": pa.int32(),
        "first_offset": pa.int64(),
        "last_offset": pa.int64(),
        "leader_epoch": pa.int32(),
        "time": pa.int64(),
        "told": pa.string(),
        "evidence": pa.list_(pa.struct(_EVENT)),
        "around": pa.list_(pa.struct(_EVENT)),
        "passed": pa.bool_(),
    }
)

_BATCH = pa.struct(
    {
        "position": pa.int64(),
        "base": pa.int64(),
        "last": pa.int64(),
        "epoch": pa.int32(),
        "size": pa.int64(),
        "crc": pa.int64(),
        "attributes": pa.int32(),
        "time": pa.int64(),
        "producer": pa.int64(),
        "sequence": pa.int32(),
        "records": pa.int32(),
    }
)

# Segments of data directories, of which each task reads a range.
RANGES = pa.schema({"files": pa.list_(pa.string())})

SEGMENTS = pa.schema(
    {
        "file": pa.string(),
        "base": pa.int64(),
        "size": pa.int64(),
        "runs": pa.list_(pa.struct({"epoch": pa.int32(), "first": _BATCH, "last": _BATCH, "batches": pa.int64()})),
        "holes": pa.int64(),
        "problem": pa.string(),
        "is_torn": pa.bool_(),
    }
)

JUDGED = pa.schema(
    {
        "topic": pa.string(),
        "partition": pa.int32(),
        "findings": pa.list_(pa.struct(list(FINDINGS))),
        "unseen": pa.int64(),
        "silent": pa.list_(pa.int32()),
        "told_apart": pa.bool_(),
        "undecided": pa.list_(pa.string()),
    }
)

# Written last: an audit that has it is finished.
OUTCOME = pa.schema({"partitions": pa.int64(), "findings": pa.int64(), "seconds": pa.float64()})
