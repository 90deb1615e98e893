import type { Services } from '../../../operation/services.ts';
import type { RunAuthority } from '../../../orchestrator/steps/agent/run-authority.ts';
import type { ModelAnswer, ModelCaller, TokenUsage } from '../../../orchestrator/steps/llm-call/model-caller.ts';
import type {
  ExtractionAnswer,
  ExtractionCall,
  MemoryExtractor,
} from '../../../orchestrator/steps/memory-extract/memory-extractor.ts';
import { whileDatabaseAway } from '../../../platform/postgres/while-away.ts';
import { readKnownSecrets } from '../../connections/known-secrets.ts';
import { type ChunkRow, type EpisodeRow, findEpisode, listChunks } from '../episodes/store.ts';
import { fingerprint } from '../folding.ts';
import { type ItemPlace, type ItemRow, inItemTransaction, listOfSubjects } from '../items/store.ts';
import { readRecalled } from '../recalls-store.ts';
import { type MemoryScope, mayWrite, visibilityOf } from '../scope.ts';
import { type Grounded, groundCandidates, type ReadMessage } from './candidates.ts';
import { createEchoDetector, removeEchoes } from './echoes.ts';
import { Candidates, extractionQuestion, judgingQuestion, type Question, Verdicts } from './prompts.ts';
import { type ExtractionCounts, failPart, findPart, finishPart, hasOtherWriters, type PartRow } from './store.ts';
import { type Candidate, storeCandidates } from './store-candidates.ts';

/** The chunks that a step reads. With 400 tokens each they fit every model. */
export const CHUNKS_PER_PART = 40;
/** The maximum number of known items with which a candidate is compared. */
const MAX_COMPARED = 5;
const MAX_ANSWER_TOKENS = 4_000;
const NEEDED_SCOPES = ['memory:use', 'ai:use'] as const;
const NOTHING: ExtractionCounts = { proposed: 0, merged: 0, superseded: 0, dropped: 0 };

type ExtractorServices = Pick<Services, 'config' | 'pool' | 'prisma' | 'secrets' | 'clock'> & {
  models: ModelCaller;
  authority: RunAuthority;
};
type On = { signal: AbortSignal; log: (lines: string[]) => void };
type Failure = Extract<ExtractionAnswer, { kind: 'failed' }>;
type Work = {
  services: ExtractorServices;
  call: ExtractionCall;
  on: On;
  scope: MemoryScope;
  /** The tokens of all questions so far. */
  usage: TokenUsage;
};

const jobOf = ({ run }: ExtractionCall) => ({ tenantId: run.tenantId, projectId: run.projectId, runId: run.id });
const failure = (code: string, message: string): Failure => ({ kind: 'failed', code, message, retryable: false });

/** Creates the extractor of `memory_extract` steps. It has the rights of the person who started the job. */
export function createMemoryExtractor(services: ExtractorServices): MemoryExtractor {
  return {
    check: (scope, call) => services.models.check(scope, call),
    async extract(call, on) {
      const answer = await extract(services, call, on);
      if (answer.kind === 'failed') {
        await whileDatabaseAway(on.signal, () => failPart(services.pool, jobOf(call), call.part, answer));
      }
      return answer;
    },
  };
}

async function extract(services: ExtractorServices, call: ExtractionCall, on: On): Promise<ExtractionAnswer> {
  if (!services.config.memory.on) return failure('memory_not_configured', 'This deployment has no memory.');
  const part = await whileDatabaseAway(on.signal, () => findPart(services.pool, jobOf(call), call.part));
  if (part === null) return failure('unknown_part', 'Only POST /v1/memory/extract/batch starts extractions.');
  if (part.state === 'done') return extracted(part);
  const standing = await services.authority.standing(call.run, on.signal);
  if (standing.kind === 'lost') return failure(standing.code, standing.message);
  const missing = NEEDED_SCOPES.find(scope => !standing.scopes.includes(scope));
  if (missing !== undefined) return failure('authority_lost', `The token does not have the scope ${missing}.`);
  const { tenantId, projectId } = call.run;
  const scope = { tenantId, projectId, userId: standing.userId };
  const work: Work = { services, call, on, scope, usage: { inputTokens: 0, outputTokens: 0 } };
  const episode = await whileDatabaseAway(on.signal, () => findEpisode(services.pool, scope, part.episode_id));
  // The episode was deleted meanwhile.
  if (episode === null) return finish(work, [], { place: null, dropped: 0 });
  const visibility = visibilityOf({ projectId: episode.project_id, userId: episode.user_id });
  if (!mayWrite(standing.role, visibility)) {
    return failure('authority_lost', `${standing.email} may not write memories of this visibility any more.`);
  }
  const answer = await extractFrom(work, episode, part);
  return { ...answer, usage: work.usage };
}

async function extractFrom(work: Work, episode: EpisodeRow, part: PartRow): Promise<ExtractionAnswer> {
  const { services, scope, on } = work;
  const messages = await whileDatabaseAway(on.signal, () => readMessages(work, episode, part));
  const place = placeOf(scope, episode);
  if (messages.length === 0) return finish(work, [], { place, dropped: 0 });
  const asked = await callModel(
    work,
    extractionQuestion(messages.map(({ chunk, text }) => ({ role: chunk.role, text }))),
  );
  if (asked.kind === 'failed') return asked;
  const read = Candidates.safeParse(asked.object);
  if (!read.success)
    return {
      ...failure('invalid_response', 'The answer of the model does not match the schema.'),
      retryable: true,
    };
  const isSecret = await whileDatabaseAway(on.signal, () => readKnownSecrets(services, scope));
  const isShared = await whileDatabaseAway(on.signal, () => hasOtherWriters(services.pool, scope, episode.source_ref));
  const { grounded, dropped } = groundCandidates(read.data.items, { messages, isSecret });
  // In a shared chat the request may be somebody else's.
  const candidates = isShared ? grounded.map(each => ({ ...each, asked: false })) : grounded;
  const judged = await judge(work, place, candidates);
  return 'kind' in judged ? judged : finish(work, judged.candidates, { place, dropped });
}

const placeOf = ({ tenantId }: MemoryScope, episode: EpisodeRow): ItemPlace => ({
  tenantId,
  projectId: episode.project_id,
  userId: episode.user_id,
  workflowId: episode.workflow_id,
  agentId: episode.agent_id,
});

/**
 * Returns the messages of a part. Recalled texts are removed from messages of models, tools and files. Otherwise a model
 * would confirm memories by repeating them.
 */
async function readMessages({ services, scope }: Work, episode: EpisodeRow, part: PartRow): Promise<ReadMessage[]> {
  const { pool } = services;
  const selection = { episodeIds: [episode.id], from: part.from_position, limit: CHUNKS_PER_PART };
  const chunks = await listChunks(pool, scope, selection);
  const runId = episode.source === 'run' ? episode.source_ref : null;
  const recalled = await readRecalled(pool, scope, { ...episode, runId });
  const isEcho = createEchoDetector(recalled);
  return chunks.flatMap((chunk: ChunkRow) => {
    const text = chunk.role === 'user' ? chunk.text : removeEchoes(chunk.text, isEcho);
    return text === '' ? [] : [{ chunk, text }];
  });
}

async function callModel(
  { call, on, services, usage }: Work,
  { system, prompt, schema }: Question,
): Promise<Extract<ModelAnswer, { kind: 'answer' }> | Failure> {
  const { run, model, idempotencyKey, traceparent } = call;
  const { tenantId, projectId } = run;
  const question = { tenantId, projectId, model, system, prompt, responseSchema: schema as never };
  const settings = { temperature: 0, maxTokens: MAX_ANSWER_TOKENS, idempotencyKey, traceparent };
  // The answer quotes people, so it is not written to the log of the run.
  const answer = await services.models.call({ ...question, ...settings }, { signal: on.signal, log: () => undefined });
  usage.inputTokens += answer.usage?.inputTokens ?? 0;
  usage.outputTokens += answer.usage?.outputTokens ?? 0;
  if (answer.kind === 'answer') return answer;
  const { code, message, retryable, retryAfterMs } = answer;
  return { kind: 'failed', code, message, retryable, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
}

const saysTheSame = (one: { subject: string; text: string }, other: { subject: string; text: string }): boolean =>
  fingerprint(one.subject, one.text).equals(fingerprint(other.subject, other.text));

/** Asks the model how candidates relate to known items of their subjects. Asks nothing if there are none. */
async function judge(
  work: Work,
  place: ItemPlace,
  grounded: readonly Grounded[],
): Promise<{ candidates: Candidate[] } | Failure> {
  const { services, on } = work;
  const subjects = grounded.map(({ subject }) => subject);
  const known = await whileDatabaseAway(on.signal, () =>
    listOfSubjects(services.pool, place, { subjects, limit: MAX_COMPARED }),
  );
  const pairs = grounded.flatMap((candidate, at) => {
    const sameSubject = known.filter(({ subject }) => subject === candidate.subject);
    // An item with the same words needs no comparison, unless it is a proposal that this candidate makes active.
    const isKnown = (item: ItemRow) => saysTheSame(item, candidate) && (item.status === 'active' || !candidate.asked);
    if (sameSubject.some(({ item }) => isKnown(item))) return [];
    const { subject, text } = candidate;
    return sameSubject.map(({ item }) => ({ at, item, asked: { subject, new: text, known: item.text } }));
  });
  if (pairs.length === 0) return { candidates: grounded.map(each => ({ ...each, judgements: [] })) };
  const answer = await callModel(work, judgingQuestion(pairs.map(({ asked }) => asked)));
  if (answer.kind === 'failed') return answer;
  const read = Verdicts.safeParse(answer.object);
  const verdicts = read.success ? read.data.verdicts : [];
  const candidates = grounded.map((candidate, at) => ({
    ...candidate,
    judgements: verdicts.flatMap(({ pair, relation }) => {
      const judged = pairs[pair - 1];
      return judged?.at === at ? [{ itemId: judged.item.id, relation }] : [];
    }),
  }));
  return { candidates };
}

/** Stores the candidates and marks the part as done in one transaction, so that a repeated step stores them once. */
async function finish(
  { services, call, on, scope }: Work,
  candidates: readonly Candidate[],
  { place, dropped }: { place: ItemPlace | null; dropped: number },
): Promise<ExtractionAnswer> {
  const { pool, clock } = services;
  const at = new Date(clock.now());
  const counts = await whileDatabaseAway(on.signal, () =>
    inItemTransaction(pool, scope.tenantId, async client => {
      const part = await findPart(client, jobOf(call), call.part, { lock: true });
      if (part === null || part.state === 'done') return part ?? NOTHING;
      const kept = place === null ? NOTHING : await storeCandidates(client, candidates, { scope, place, at });
      const sum = { ...kept, dropped };
      await finishPart(client, jobOf(call), call.part, sum);
      return sum;
    }),
  );
  return extracted(counts);
}

const extracted = ({ proposed, merged, superseded, dropped }: ExtractionCounts): ExtractionAnswer => ({
  kind: 'extracted',
  result: { proposed, merged, superseded, dropped },
});
