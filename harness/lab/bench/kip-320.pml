/*
 * A specification of `kip-320` without disk faults, in Promela. It follows the same rules as peer.py, and shares no
 * code with the model. Each event is one transition. After each event, all properties but `convergence` are asserted.
 *
 * `known` is the epoch of the last decision that a replica has learned, plus one. A replica that is down has no leader,
 * and its `known` is 0.
 */
#define REPLICAS {{ replicas }}
#define RECORDS {{ records }}
#define EPOCHS {{ epochs }}
#define NONE 255
#define HAS(set, member) ((set) & (1 << (member)))

#define WITHOUT(f) ((decided_isr[epoch] & ~(1 << (f))) == 0 -> decided_isr[epoch] : decided_isr[epoch] & ~(1 << (f)))
#define CHANGES_WITHOUT(f) (decided_leader[epoch] == (f) || (HAS(decided_isr[epoch], f) && decided_isr[epoch] != (1 << (f))))
#define LEADER_IS_UP ({% for f in everyone %}(decided_leader[epoch] == {{ f }} && r[{{ f }}].up){{ " || " if not loop.last }}{% endfor %})
#define LEADS_AS_KNOWN(l, f) (r[l].leader == (l) && r[l].known == r[f].known)
#define TRUE_LEADER(l) (decided_leader[epoch] == (l) && r[l].up && r[l].known == epoch + 1)
/* No replica learns a decision without a leader. */
#define LED(f, e) (r[f].known <= e && e <= epoch && decided_leader[e] != NONE)
#define NEWS(f) (r[f].up && r[f].known <= epoch && ({% for e in all_epochs %}LED(f, {{ e }}){{ " || " if not loop.last }}{% endfor %}))

#define NOTHING 0
#define FETCHED 1
#define OUT_OF_RANGE 2
#define END_OF_EPOCH 3

typedef Replica {
  byte log[RECORDS];           /* the number of each record, from 1 on; 0 for none */
  byte wrote[RECORDS];         /* the leader epoch of each record */
  byte leo;
  byte hw;
  byte cache_epoch[{{ records + 1 }}];
  byte cache_start[{{ records + 1 }}];
  byte cached;
  bool up;
  byte known;
  byte leader;
  bool truncating;
  bool was_cut;                /* a response has truncated its log, and it sends another request */
  byte answer;
  byte answer_record;          /* 0 for none */
  byte answer_wrote;
  byte answer_offset;
  byte answer_epoch;
  byte isr;                    /* the leader's own ISR */
  byte epoch_start;
  byte led_from;               /* the offset of its first append since it leads without a break */
  byte position[REPLICAS];     /* each follower's last fetch offset; NONE before its first fetch */
}

Replica r[REPLICAS];
byte decided_leader[{{ epochs + 1 }}];
byte decided_isr[{{ epochs + 1 }}];
byte epoch;
byte produced;
byte offset_of[{{ records + 1 }}];
unsigned exposed : {{ records + 1 }};
unsigned acked : {{ records + 1 }};

/* Temporary variables of an event. They are 0 between events, because a breadth-first search allows no hidden ones. */
byte i, j, n, low, end, found_epoch, found_end, learned, set, lost, parted;

/* The log. */

inline truncate(f, to) {
  do
  :: r[f].leo > (to) -> r[f].leo--; r[f].log[r[f].leo] = 0; r[f].wrote[r[f].leo] = 0
  :: else -> break
  od;
  do
  :: r[f].cached > 0 && r[f].cache_start[r[f].cached - 1] >= r[f].leo -> pop_epoch(f)
  :: else -> break
  od;
  r[f].hw = (r[f].hw > r[f].leo -> r[f].leo : r[f].hw)
}

inline pop_epoch(f) {
  r[f].cached--; r[f].cache_epoch[r[f].cached] = 0; r[f].cache_start[r[f].cached] = 0
}

inline note_epoch(f, e, s) {
  if
  :: r[f].cached > 0 && r[f].cache_epoch[r[f].cached - 1] == (e) && (s) >= r[f].cache_start[r[f].cached - 1] -> skip
  :: else ->
    do
    :: r[f].cached > 0 && (r[f].cache_epoch[r[f].cached - 1] >= (e) || r[f].cache_start[r[f].cached - 1] >= (s)) ->
      pop_epoch(f)
    :: else -> break
    od;
    r[f].cache_epoch[r[f].cached] = (e); r[f].cache_start[r[f].cached] = (s); r[f].cached++
  fi
}

inline append(f, number, e) {
  note_epoch(f, e, r[f].leo);
  r[f].log[r[f].leo] = number; r[f].wrote[r[f].leo] = e; r[f].leo++
}

/* Find the largest cached epoch that is not above e, and its end. Both are NONE if e is above all cached epochs. */
inline find_end(f, e) {
  found_epoch = NONE; found_end = NONE;
  if
  :: (e) == NONE || r[f].cached == 0 -> skip
  :: else ->
    if
    :: (e) > r[f].cache_epoch[r[f].cached - 1] -> skip
    :: else ->
      found_epoch = (e); found_end = r[f].leo; i = r[f].cached;
      do
      :: i == 0 -> break
      :: i > 0 && r[f].cache_epoch[i - 1] <= (e) -> found_epoch = r[f].cache_epoch[i - 1]; break
      :: else -> i--; found_end = r[f].cache_start[i]
      od
    fi
  fi
}

/* Guarantees. */

inline promise(l, from, to) {
  for (i : (from) .. (to) - 1) {
    exposed = exposed | (1 << r[l].log[i]);
    acked = (i >= r[l].led_from -> acked | (1 << r[l].log[i]) : acked)
  }
  r[l].led_from = (r[l].led_from <= (to) -> 0 : r[l].led_from)    /* needed above the high watermark only */
}

inline advance(l) {
  low = r[l].leo;
  for (j : 0 .. REPLICAS - 1) {
    if
    :: j != l && HAS(r[l].isr, j) ->
      n = (r[l].position[j] == NONE -> 0 : r[l].position[j]);
      low = (n < low -> n : low)
    :: else -> skip
    fi
  }
  if
  :: low > r[l].hw -> n = r[l].hw; promise(l, n, low); r[l].hw = low
  :: else -> skip
  fi
}

/* Replication. */

inline produce(l) {
  produced++;
  offset_of[produced] = r[l].leo;
  append(l, produced, r[l].known - 1);
  advance(l)
}

inline fetch(f, l) {
  if
  :: r[f].truncating ->
    n = (r[f].cached == 0 -> NONE : r[f].cache_epoch[r[f].cached - 1]);
    find_end(l, n);
    r[f].answer = END_OF_EPOCH; r[f].answer_epoch = found_epoch; r[f].answer_offset = found_end
  :: else ->
    if
    :: r[f].leo > r[l].leo -> r[f].answer = OUT_OF_RANGE; r[f].answer_offset = r[l].leo
    :: else ->
      r[f].answer = FETCHED;
      r[f].answer_offset = r[l].hw;
      if
      :: r[f].leo < r[l].leo -> r[f].answer_record = r[l].log[r[f].leo]; r[f].answer_wrote = r[l].wrote[r[f].leo]
      :: else -> skip
      fi;
      r[l].position[f] = r[f].leo;
      advance(l);
      /* A fetch without records waits at the leader, so its response has the new high watermark. */
      r[f].answer_offset = (r[f].answer_record == 0 -> r[l].hw : r[f].answer_offset)
    fi
  fi
}

inline forget_answer(f) {
  r[f].answer = NOTHING; r[f].answer_record = 0; r[f].answer_wrote = 0; r[f].answer_offset = 0; r[f].answer_epoch = 0
}

inline receive(f) {
  if
  :: r[f].answer == END_OF_EPOCH -> cut(f)
  :: r[f].answer == OUT_OF_RANGE -> end = r[f].answer_offset; truncate(f, end)
  :: else ->
    if
    :: r[f].answer_record != 0 -> append(f, r[f].answer_record, r[f].answer_wrote)
    :: else -> skip
    fi;
    r[f].hw = (r[f].answer_offset < r[f].leo -> r[f].answer_offset : r[f].leo)
  fi;
  forget_answer(f)
}

/* Truncate to the end of the common epoch. If there is none yet, send another request, for an older epoch. */
inline cut(f) {
  r[f].truncating = false;
  if
  :: r[f].answer_epoch == NONE ->
    end = (r[f].was_cut -> r[f].leo : r[f].hw);
    r[f].was_cut = false;
    truncate(f, end)
  :: else ->
    r[f].was_cut = false;
    find_end(f, r[f].answer_epoch);
    if
    :: found_epoch == NONE -> end = r[f].answer_offset
    :: found_epoch == r[f].answer_epoch -> end = (found_end < r[f].answer_offset -> found_end : r[f].answer_offset)
    :: else -> end = found_end; r[f].truncating = true; r[f].was_cut = true
    fi;
    truncate(f, end)
  fi
}

/* Processes. */

inline forget_leadership(l) {
  r[l].isr = 0; r[l].epoch_start = 0; r[l].led_from = 0;
  for (j : 0 .. REPLICAS - 1) { r[l].position[j] = NONE }
}

inline crash(f) {
  r[f].up = false; r[f].known = 0; r[f].leader = NONE; r[f].truncating = false; r[f].was_cut = false;
  forget_answer(f);
  forget_leadership(f)
}

inline restart(f) {
  if
  :: CHANGES_WITHOUT(f) -> expire(f)
  :: else -> skip
  fi;
  r[f].up = true; r[f].known = epoch;
  n = r[f].leo; truncate(f, n)
}

/* The controller. */

inline decide(who, members) {
  epoch++; decided_leader[epoch] = who; decided_isr[epoch] = members
}

inline expire(f) {
  set = WITHOUT(f);
  n = (decided_leader[epoch] == (f) -> NONE : decided_leader[epoch]);
  decide(n, set)
}

/* If the leader has failed, the controller removes the members that are down from the ISR. */
inline elect(f) {
  set = decided_isr[epoch];
  if
  :: decided_leader[epoch] != NONE && LEADER_IS_UP -> skip
  :: else ->
    for (j : 0 .. REPLICAS - 1) { set = (r[j].up -> set : set & ~(1 << j)) }
  fi;
  decide(f, set)
}

/* Forget the decisions that no replica can learn any more. Otherwise equivalent states would differ. */
inline forget_superseded() {
  n = epoch;
  for (j : 0 .. REPLICAS - 1) { n = (r[j].up && r[j].known < n -> r[j].known : n) }
  i = 0;
  do
  :: i < n -> decided_leader[i] = NONE; decided_isr[i] = 0; i++
  :: else -> break
  od
}

inline notify(f) {
  learned = r[f].known;
  do
  :: decided_leader[learned] == NONE -> learned++
  :: else -> break
  od;
  learn(f)
}

inline catch_up(f) {
  learned = epoch;
  do
  :: decided_leader[learned] == NONE -> learned--
  :: else -> break
  od;
  learn(f)
}

inline learn(f) {
  forget_answer(f);
  r[f].was_cut = false;
  r[f].known = learned + 1;
  if
  :: decided_leader[learned] == f ->
    r[f].truncating = false;
    if
    :: r[f].leader == f -> skip
    :: else -> r[f].led_from = r[f].leo; n = r[f].hw; promise(f, 0, n)
    fi;
    r[f].leader = f;
    r[f].isr = decided_isr[learned];
    r[f].epoch_start = r[f].leo;
    for (j : 0 .. REPLICAS - 1) { r[f].position[j] = NONE }
    note_epoch(f, learned, r[f].leo);
    advance(f)
  :: else ->
    r[f].leader = decided_leader[learned];
{% if truncates_to_high_watermark %}
    n = r[f].hw; truncate(f, n);    /* the bug KAFKA-1211 */
{% else %}
    r[f].truncating = (r[f].cached > 0);
{% endif %}
    forget_leadership(f)
  fi
}

/* A change of the ISR takes effect at the leader and at the controller at the same time. */

#define LAGS(f, l) ((r[l].position[f] == NONE -> 0 : r[l].position[f]) < r[l].leo)
#define HAS_CAUGHT_UP(f, l) (r[l].position[f] != NONE && r[l].position[f] >= r[l].hw && r[l].position[f] >= r[l].epoch_start)

inline shrink(f, l) {
  r[l].isr = r[l].isr & ~(1 << (f)); decided_isr[epoch] = r[l].isr;
  advance(l)
}

inline expand(f, l) {
  r[l].isr = r[l].isr | (1 << (f)); decided_isr[epoch] = r[l].isr
}

/* Properties. */

inline judge() {
  for (j : 0 .. REPLICAS - 1) {
    assert(r[j].hw <= r[j].leo);
    if
    :: TRUE_LEADER(j) ->
      for (i : 1 .. produced) {
        lost = 1;
        if
        :: offset_of[i] < r[j].leo -> lost = (r[j].log[offset_of[i]] != i)
        :: else -> skip
        fi;
        assert(!lost || !HAS(exposed | acked, i))    /* no-committed-loss, no-acked-loss */
      }
    :: else -> skip
    fi;
    for (n : 0 .. REPLICAS - 1) {
      if
      :: n != j ->
        low = (r[j].hw < r[n].hw -> r[j].hw : r[n].hw);
        for (i : 0 .. RECORDS - 1) {
          parted = (r[j].log[i] != r[n].log[i]);
          assert(!parted || i >= low);                                     /* no-divergence */
          assert(!parted || r[j].log[i] == 0 || r[n].log[i] == 0 || r[j].wrote[i] != r[n].wrote[i])   /* log-matching */
          assert(!parted || r[j].leader != j || i >= r[j].hw || !r[n].up || !HAS(decided_isr[epoch], n)) /* isr-complete */
        }
      :: else -> skip
      fi
    }
  }
}

inline done() {
  forget_superseded();
  judge();
  i = 0; j = 0; n = 0; low = 0; end = 0; found_epoch = 0; found_end = 0; learned = 0; set = 0; lost = 0; parted = 0
}

active proctype partition() {
  d_step {
    for (j : 0 .. REPLICAS - 1) {
      r[j].up = true; r[j].known = 1;
      for (i : 0 .. REPLICAS - 1) { r[j].position[i] = NONE }
    }
    r[0].isr = (1 << REPLICAS) - 1; r[0].cached = 1;
    for (i : 1 .. EPOCHS) { decided_leader[i] = NONE }
    decided_isr[0] = (1 << REPLICAS) - 1;
    i = 0; j = 0
  }
  do
{% for f in everyone %}
  :: d_step { r[{{ f }}].leader == {{ f }} && r[{{ f }}].isr != 0 && produced < RECORDS -> produce({{ f }}); done() }
{% for l in everyone if l != f %}
  :: d_step { r[{{ f }}].leader == {{ l }} && r[{{ f }}].answer == NOTHING && LEADS_AS_KNOWN({{ l }}, {{ f }}) -> fetch({{ f }}, {{ l }}); done() }
  :: d_step { TRUE_LEADER({{ l }}) && HAS(r[{{ l }}].isr, {{ f }}) && LAGS({{ f }}, {{ l }}) -> shrink({{ f }}, {{ l }}); done() }
  :: d_step { TRUE_LEADER({{ l }}) && !HAS(r[{{ l }}].isr, {{ f }}) && HAS_CAUGHT_UP({{ f }}, {{ l }}) -> expand({{ f }}, {{ l }}); done() }
{% endfor %}
  :: d_step { r[{{ f }}].answer != NOTHING -> receive({{ f }}); done() }
  :: d_step { r[{{ f }}].answer != NOTHING -> forget_answer({{ f }}); done() }    /* drop */
  :: d_step { r[{{ f }}].up -> crash({{ f }}); done() }
  :: d_step { !r[{{ f }}].up && (epoch < EPOCHS || !CHANGES_WITHOUT({{ f }})) -> restart({{ f }}); done() }
  :: d_step { NEWS({{ f }}) -> notify({{ f }}); done() }
  :: d_step { r[{{ f }}].known < epoch && NEWS({{ f }}) -> catch_up({{ f }}); done() }
  :: d_step { epoch < EPOCHS && r[{{ f }}].up && HAS(decided_isr[epoch], {{ f }}) && decided_leader[epoch] != {{ f }} -> elect({{ f }}); done() }
  :: d_step { epoch < EPOCHS && CHANGES_WITHOUT({{ f }}) -> expire({{ f }}); done() }
{% endfor %}
  od
}
