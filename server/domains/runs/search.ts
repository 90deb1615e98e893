/** How many of a project's newest runs are looked through before the indexes of what `q` means are asked: ~2 ms. */
const LOOKED_THROUGH = 1_000;
/**
 * Above this many matches they are looked for in the order of the list after all. Among a million runs 4,000 matches are
 * one in 250, so that a page is found after some 13,000; fetching and sorting 4,000 costs about as much.
 */
const FEW = 4_000;

/**
 * SQL for the newest runs `r` of a project `p` whose id, session or trigger type begins with `q`; `where` are the other
 * conditions, `$1` is the tenant and `$3` the most rows wanted. What is frequent is among the newest runs and is found
 * there, in their order. What is not, is looked up by what it begins with, in indexes that know nothing of the order: in
 * the order alone, a `q` that nothing matches would read every run of the project (0.8 s for 300,000).
 */
export function searchRuns(q: string, where: readonly string[], parameter: (value: unknown) => string): string {
  const prefix = parameter(`${q.replace(/[\\%_]/g, '\\$&')}%`);
  const ids = idsBeginningWith(q);
  const byId = ids === null ? 'false' : `r.id between ${parameter(ids.first)}::uuid and ${parameter(ids.last)}::uuid`;
  const bySession = `(r.session_id like ${prefix} and r.session_id <> r.id::text)`;
  const matches = `(${byId} or ${bySession} or r.trigger_type like ${prefix})`;
  const conditions = where.join(' and ');
  const inOrder = 'order by r.started_at desc, r.id desc';
  const mine = 'r.tenant_id = $1 and r.project_id = p.id';
  const nextType = (after: string) =>
    `(select r.trigger_type from runs r where ${mine} and r.trigger_type <> 'api' and r.trigger_type like ${prefix} ${after}
       order by r.trigger_type using ~<~ limit 1)`;
  // The one type that no index holds: where it is what the newest runs are not, it is looked for in the order.
  const ofApi = 'api'.startsWith(q);
  // Many ids are fetched and sorted all the same: in the order they may lie behind everything that is newer.
  // Each step is begun only where the ones before it were not enough: a condition that reads no table is asked first.
  return `
    with recursive newest as materialized (
      select r.* from runs r where ${conditions} ${inOrder} limit ${LOOKED_THROUGH}),
    near as materialized (select r.* from newest r where ${matches} ${inOrder} limit $3),
    enough as materialized (
      select (select count(*) from near) >= $3 or (select count(*) from newest) < ${LOOKED_THROUGH} as so),
    few_ids as materialized (select r.id from runs r where not (select so from enough) and ${byId} limit ${FEW + 1}),
    few as materialized (
      select r.id from runs r where not (select so from enough) and ${mine} and ${bySession} limit ${FEW + 1}),
    many_ids as materialized (select count(*) > ${FEW} as so from few_ids),
    many as materialized (select not (select so from enough) and (${ofApi} or count(*) > ${FEW}) as so from few),
    types(type) as (
      select ${nextType('')} where not (select so from enough) and not (select so from many)
      union all select ${nextType('and r.trigger_type ~>~ types.type')} from types where types.type is not null),
    found as materialized (
      select id from few where not (select so from many)
      union select id from few_ids where not (select so from many_ids)
      union (select r.id from (
          select * from runs r where (select so from many_ids) and not (select so from many) and ${byId} offset 0) r
        where ${conditions} ${inOrder} limit $3)
      union select r.id from types cross join lateral (
        select r.id from runs r where r.trigger_type = types.type and r.trigger_type <> 'api' and ${conditions} ${inOrder} limit $3) r
        where types.type is not null)
    select * from near where (select so from enough)
    union all
    (select r.* from found f cross join lateral (select * from runs r where r.id = f.id and ${conditions} limit 1) r
      ${inOrder} limit $3)
    union all
    (select r.* from runs r where (select so from many) and ${conditions} and ${matches} ${inOrder} limit $3)`;
}

const FIRST_ID = '00000000-0000-0000-0000-000000000000';
const LAST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/** The first and last UUID whose text begins with `q`, in any case; null where none does. */
function idsBeginningWith(q: string): { first: string; last: string } | null {
  const begin = q.toLowerCase();
  const first = begin + FIRST_ID.slice(begin.length);
  return /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/.test(first)
    ? { first, last: begin + LAST_ID.slice(begin.length) }
    : null;
}
