import type { Queryable } from '../../platform/postgres/transaction.ts';

/** The numbers up to which tasks and failed runs have their deliveries. */
export type Progress = { taskSeq: string; usageSeq: string };

type Row = { task_seq: string; usage_seq: string };
const toProgress = (row: Row): Progress => ({ taskSeq: row.task_seq, usageSeq: row.usage_seq });

/**
 * Returns whether there are tasks or usage after the progress, with one look-up in each of two indexes, so that an idle
 * service writes nothing.
 */
export async function hasNews(db: Queryable): Promise<boolean> {
  const { rows } = await db.query<{ news: boolean }>({
    name: 'notification_news',
    text: `SELECT coalesce(
             (SELECT seq FROM human_tasks t WHERE t.state = 'pending' AND t.seq > p.task_seq ORDER BY t.seq LIMIT 1),
             (SELECT seq FROM run_usage u WHERE u.seq > p.usage_seq ORDER BY u.seq LIMIT 1)) IS NOT NULL AS news
           FROM notification_progress p`,
  });
  return rows[0]?.news ?? false;
}

/** Returns the progress, locked until the end of the transaction; null if another session holds it. */
export async function lockProgress(db: Queryable): Promise<Progress | null> {
  const { rows } = await db.query<Row>('SELECT task_seq, usage_seq FROM notification_progress FOR UPDATE SKIP LOCKED');
  return rows[0] ? toProgress(rows[0]) : null;
}

/** Stores the progress. The caller holds its lock. */
export async function saveProgress(db: Queryable, { taskSeq, usageSeq }: Progress): Promise<void> {
  await db.query('UPDATE notification_progress SET task_seq = $1, usage_seq = $2', [taskSeq, usageSeq]);
}

type Numbers = { tasks: number; usage: number };

/**
 * Returns the end of the next batch of tasks and of usage, which is not beyond the horizons; the same numbers if there is
 * nothing more.
 */
export async function nextBatch(
  db: Queryable,
  { taskSeq, usageSeq }: Progress,
  { limits, horizon }: { limits: Numbers; horizon: Numbers },
): Promise<Progress> {
  const { rows } = await db.query<Row>(
    `SELECT coalesce((SELECT max(seq) FROM (
              SELECT seq FROM human_tasks WHERE state = 'pending' AND seq > $1 AND seq <= $5 ORDER BY seq LIMIT $3) t), $1::int8) AS task_seq,
            coalesce((SELECT max(seq) FROM (
              SELECT seq FROM run_usage WHERE seq > $2 AND seq <= $6 ORDER BY seq LIMIT $4) u), $2::int8) AS usage_seq`,
    [taskSeq, usageSeq, limits.tasks, limits.usage, horizon.tasks, horizon.usage],
  );
  return rows[0] ? toProgress(rows[0]) : { taskSeq, usageSeq };
}
