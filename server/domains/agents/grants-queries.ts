import type { Pool } from 'pg';
import type { JsonMap } from '../../orchestrator/core/index.ts';
import type { AgentGrant } from '../../orchestrator/steps/agent/grants.ts';
import type { ProjectScope } from '../workflows/store.ts';

/** The subject of a grant: an agent, or a conversation. */
export type GrantSubject = { agentId: string } | { threadId: string };

export type NewGrant = Omit<AgentGrant, 'id'> & {
  id: string;
  grantedBy: string;
  at: Date;
  expiresAt: Date | null;
};

export type GrantRow = {
  id: string;
  agent_id: string | null;
  thread_id: string | null;
  instance_id: string;
  /** Null once the instance is gone. */
  instance: string | null;
  tool: string;
  arguments: JsonMap | null;
  granted_by: string;
  in_force: boolean;
  created_at: Date;
  expires_at: Date | null;
};

const columnsOf = (subject: GrantSubject): [agentId: string | null, threadId: string | null] =>
  'agentId' in subject ? [subject.agentId, null] : [null, subject.threadId];

/** The person who granted it may still write in the project, and it has not expired; `at` is the parameter with the time. */
const inForce = (at: string) => `((m.tenant_admin OR pm.role = 'project_contributor') IS TRUE
  AND (g.expires_at IS NULL OR g.expires_at > ${at}::timestamptz))`;
const GRANTER = `LEFT JOIN memberships m ON m.user_id = g.granted_by AND m.tenant_id = $1
  LEFT JOIN project_members pm ON pm.user_id = g.granted_by AND pm.project_id = $2`;

/** Inserts a grant. Returns its id, or that of one in force by the same person that says the same. */
export async function insertGrant(
  pool: Pool,
  { tenantId, projectId }: ProjectScope,
  subject: GrantSubject,
  grant: NewGrant,
): Promise<string> {
  const [agentId, threadId] = columnsOf(subject);
  const { rows } = await pool.query<{ id: string }>(
    `WITH same AS (
       SELECT g.id FROM agent_grants g
        WHERE g.tenant_id = $1 AND g.project_id = $2 AND (g.agent_id = $4 OR g.thread_id = $5) AND g.instance_id = $6
          AND g.tool = $7 AND g.tool_digest = $8 AND g.arguments::jsonb IS NOT DISTINCT FROM $9::jsonb AND g.granted_by = $10
          AND g.expires_at IS NOT DISTINCT FROM $12::timestamptz
        LIMIT 1),
     made AS (
       INSERT INTO agent_grants (id, tenant_id, project_id, agent_id, thread_id, instance_id, tool, tool_digest, arguments,
         granted_by, created_at, expires_at)
       SELECT $3, $1, $2, $4, $5, $6, $7, $8, $9::json, $10, $11, $12::timestamptz WHERE NOT EXISTS (SELECT FROM same)
       RETURNING id)
     SELECT id FROM same UNION ALL SELECT id FROM made`,
    [
      tenantId,
      projectId,
      grant.id,
      agentId,
      threadId,
      grant.instanceId,
      grant.tool,
      grant.toolDigest,
      grant.arguments === null ? null : JSON.stringify(grant.arguments),
      grant.grantedBy,
      grant.at,
      grant.expiresAt,
    ],
  );
  return rows[0]?.id ?? grant.id;
}

/**
 * Returns the grants in force in a run at a given time: those of the agent, and those of the conversation that the run
 * answers in.
 */
export async function grantsInForce(
  pool: Pool,
  { tenantId, projectId }: ProjectScope,
  { agentId, runId, at }: { agentId: string; runId: string; at: Date },
): Promise<AgentGrant[]> {
  const { rows } = await pool.query<AgentGrant>({
    name: 'agent_grants_in_force',
    text: `SELECT g.id, g.instance_id AS "instanceId", g.tool, g.tool_digest AS "toolDigest", g.arguments
             FROM agent_grants g ${GRANTER}
            WHERE g.tenant_id = $1 AND g.project_id = $2 AND ${inForce('$5')}
              AND (g.agent_id = $3
                   OR g.thread_id = (SELECT c.thread_id FROM chat_messages c WHERE c.run_id = $4 AND c.tenant_id = $1))
            ORDER BY g.created_at, g.id`,
    values: [tenantId, projectId, agentId, runId, at],
  });
  return rows;
}

/** The grants of an agent or of a conversation, newest first, with those that do not count any more. */
export async function listGrantRows(
  pool: Pool,
  { tenantId, projectId }: ProjectScope,
  subject: GrantSubject,
  { after, limit, at }: { after: { at: Date; id: string } | null; limit: number; at: Date },
): Promise<GrantRow[]> {
  const { rows } = await pool.query<GrantRow>(
    `SELECT g.id, g.agent_id, g.thread_id, g.instance_id, i.name AS instance, g.tool, g.arguments,
            coalesce(u.email, '') AS granted_by, ${inForce('$5')} AS in_force, g.created_at, g.expires_at
       FROM agent_grants g ${GRANTER}
       LEFT JOIN users u ON u.id = g.granted_by
       LEFT JOIN mcp_instances i ON i.id = g.instance_id AND i.tenant_id = $1
      WHERE g.tenant_id = $1 AND g.project_id = $2 AND (g.agent_id = $3 OR g.thread_id = $4)
        AND ($6::timestamptz IS NULL OR (g.created_at, g.id) < ($6, $7::uuid))
      ORDER BY g.created_at DESC, g.id DESC LIMIT $8`,
    [tenantId, projectId, ...columnsOf(subject), at, after?.at ?? null, after?.id ?? null, limit],
  );
  return rows;
}

/** Deletes a grant of an agent or of a conversation. Returns whether there was one. */
export async function deleteGrant(
  pool: Pool,
  { tenantId, projectId }: ProjectScope,
  subject: GrantSubject,
  { id }: { id: string },
): Promise<boolean> {
  const { rowCount } = await pool.query(
    `DELETE FROM agent_grants g
      WHERE g.tenant_id = $1 AND g.project_id = $2 AND (g.agent_id = $3 OR g.thread_id = $4) AND g.id = $5`,
    [tenantId, projectId, ...columnsOf(subject), id],
  );
  return rowCount === 1;
}

/** A call that a person is asked to approve: what the log says of it, and the agent and the conversation of its run. */
export type AskedRow = {
  /** The `AgentWork` of the agent, as `step_expanded` records it. */
  work: JsonMap | null;
  /** The name by which the model calls the tool. */
  tool: string | null;
  /** The workflow of the run, if it is an agent's own. */
  own_agent_id: string | null;
  /** The conversation that the run answers in, if the person may see it. */
  thread_id: string | null;
  /** Where the agent had read text from outside, if that is why it asks. */
  outside: string | null;
  /** Where it had read private data, if it asks because the call could send that out. */
  private: string | null;
};

/** `agent`: the step of the agent. `approval`: that of the question, which is about the call of this number in `turn`. Null where the project has no such run. */
export async function findAsked(
  pool: Pool,
  { tenantId, projectId }: ProjectScope,
  {
    runId,
    agent,
    approval,
    userId,
    turn,
    number,
  }: { runId: string; agent: string; approval: string; userId: string; turn: string; number: number },
): Promise<AskedRow | null> {
  const { rows } = await pool.query<AskedRow>(
    `SELECT (SELECT coalesce(e.data->'agent', p.body) FROM run_events e
               LEFT JOIN run_payloads p ON p.run_id = e.run_id AND p.id = (e.data->'agent_ref'->>'payload_id')::uuid
              WHERE e.run_id = r.id AND e.event_type = 'step_expanded' AND e.step_id = $4 LIMIT 1) AS work,
            (SELECT added->'fields'->>'tool' FROM run_events e, json_array_elements(e.data->'steps') added
              WHERE e.run_id = r.id AND e.event_type = 'steps_added' AND e.step_id = $4 AND added->>'id' = $5 LIMIT 1) AS tool,
            CASE WHEN w.kind = 'agent' THEN w.id END AS own_agent_id,
            (SELECT t.id FROM chat_messages c JOIN chat_threads t ON t.id = c.thread_id
              WHERE c.run_id = r.id AND c.tenant_id = $1 AND (t.owner_id = $6 OR t.visibility = 'project')
                AND t.deleted_at IS NULL) AS thread_id,
            (SELECT e.data->'turn'->'calls'->($8::int - 1)->>'outside' FROM run_events e
              WHERE e.run_id = r.id AND e.event_type = 'step_completed' AND e.step_id = $7 LIMIT 1) AS outside,
            (SELECT e.data->'turn'->'calls'->($8::int - 1)->>'private' FROM run_events e
              WHERE e.run_id = r.id AND e.event_type = 'step_completed' AND e.step_id = $7 LIMIT 1) AS private
       FROM runs r JOIN workflows w ON w.id = r.workflow_id
      WHERE r.id = $3 AND r.tenant_id = $1 AND r.project_id = $2`,
    [tenantId, projectId, runId, agent, approval, userId, turn, number],
  );
  return rows[0] ?? null;
}
