import type { Pool } from 'pg';
import { Embedder } from '../../bin/fake-model/embeddings.ts';
import { embedPending } from '../../server/domains/memory/embeddings/embed-pending.ts';
import { searchByMeaning } from '../../server/domains/memory/embeddings/embed-query.ts';
import { minCosine } from '../../server/domains/memory/embeddings/quantize.ts';
import { saveSettings } from '../../server/domains/memory/embeddings/store.ts';
import { scopeOf } from '../../server/domains/memory/scope.ts';
import type { Embed } from '../../server/operation/embed.ts';
import type { Figures } from '../system/system.ts';
import { SeededRandom } from './random.ts';
import { createMemoryUser, indexTexts, type MemoryUser, rememberFacts, search } from './store.ts';

const SEED = 20_261_123;
const TOP = 5;
const DIMENSIONS = 256;

const FIRST =
  'Anna Bruno Carla Dario Elena Felix Greta Hugo Irene Jonas Karin Lukas Marta Nils Olga Paul Rita Simon Tanja Viktor'.split(
    ' ',
  );
const LAST = 'Albers Brandt Conti Dietz Egger Falk Graf Haas Iversen Jansen'.split(' ');
const CITIES = 'Lisbon Oslo Vienna Porto Dublin Turin Ghent Malmo Basel Leeds Lyon Graz Cork Bern Riga'.split(' ');
const NAMES = 'Rufus Bella Oscar Mila Bruno Nala Simba Lotte Pixel Momo'.split(' ');
const MAKES = 'Fiat Volvo Skoda Tesla Dacia Honda Mazda Opel'.split(' ');
const SHOPS = 'florist,tailor,baker,plumber,banker,grocer,tutor,barber,butcher,notary,painter,printer'.split(',');
const THINGS = 'roof,window,garden,ledger,bouquet,jacket,lesson,fence,oven,contract,poster,boiler'.split(',');

/** A question with the statements that a good answer contains. */
type Question = { kind: string; query: string; expected: readonly string[]; stale?: string; asOf?: string };

/** Returns statements about people, and questions about them in the same and in other words. */
function compose(people: number, sessions: number) {
  const random = new SeededRandom(SEED);
  const said: string[] = [];
  const moves: { who: string; from: string; to: string }[] = [];
  const questions: Question[] = [];
  for (let nth = 0; nth < people; nth += 1) {
    const who = `${FIRST[nth % FIRST.length]} ${LAST[Math.floor(nth / FIRST.length) % LAST.length]}`;
    const [dog, make, first] = [random.pick(NAMES), random.pick(MAKES), random.pick(CITIES)];
    const second = random.pick(CITIES.filter(city => city !== first));
    const facts = {
      dog: `${who} told us that the dog is called ${dog}.`,
      car: `${who} drives a car, a ${make}, to the office.`,
      doctor: `${who} sees a doctor about the knee in ${random.pick(CITIES)}.`,
      trip: `${who} went on a trip to ${first} in spring.`,
      other: `${who} came back from a trip to ${second} in autumn.`,
    };
    said.push(...Object.values(facts));
    for (let more = 5; more < sessions; more += 1) {
      // These statements have the same form as the facts: only their subject differs.
      said.push(`${who} sees a ${random.pick(SHOPS)} about the ${random.pick(THINGS)} in ${random.pick(CITIES)}.`);
    }
    moves.push({ who, from: first, to: second });
    const home = { from: `${who} lives in ${first}.`, to: `${who} lives in ${second}.` };
    questions.push(
      { kind: 'single', query: `What is the dog of ${who} called?`, expected: [facts.dog] },
      { kind: 'single', query: `Which car does ${who} drive to the office?`, expected: [facts.car] },
      { kind: 'multi', query: `Where did ${who} go on a trip?`, expected: [facts.trip, facts.other] },
      { kind: 'update', query: `Where does ${who} live?`, expected: [home.to], stale: home.from },
      { kind: 'time', query: `Where does ${who} live?`, expected: [home.from], asOf: '2026-02-01T00:00:00Z' },
      { kind: 'abstain', query: `Where does Xaver Quill${nth}son work?`, expected: [] },
      { kind: 'paraphrase', query: `physician for ${who}?`, expected: [facts.doctor] },
      { kind: 'paraphrase', query: `Is there a vehicle that ${who} has?`, expected: [facts.car] },
    );
  }
  return { said, moves, questions };
}

/**
 * Returns the share of seeded questions whose answer is among the first five hits, with words only and with the vectors
 * of the fake model; and the numbers of hits that were outdated or belonged to another workspace.
 */
export async function measureRecall(pool: Pool, people: number, sessions: number): Promise<Figures> {
  const embedder = new Embedder();
  const embed: Embed = async ({ texts }) => ({
    kind: 'vectors',
    vectors: texts.map(text => embedder.embed(text, DIMENSIONS)),
  });
  const { said, moves, questions } = compose(people, sessions);
  const [ours, theirs] = [
    await createMemoryUser(pool, 'recall', embed),
    await createMemoryUser(pool, 'foreign', embed),
  ];
  for (const [who, prefix] of [
    [ours, ''],
    [theirs, 'FOREIGN '],
  ] as const) {
    await indexTexts(
      who,
      said.map(text => prefix + text),
    );
    for (const move of moves) {
      const statement = (city: string) => ({
        subject: `home of ${move.who}`,
        text: `${prefix}${move.who} lives in ${city}.`,
      });
      who.setTime('2026-01-01T00:00:00.000Z');
      const [old] = await rememberFacts(who, [statement(move.from)]);
      who.setTime('2026-03-01T00:00:00.000Z');
      const now = statement(move.to);
      await rememberFacts(who, [old === undefined ? now : { ...now, supersedes: old }]);
      who.setTime(null);
    }
  }
  const lexical = await askAll(ours, questions);
  const { tenantId, userId } = ours.principal;
  const model = { model: 'fake/model', dimensions: DIMENSIONS, space: `fake/model#${DIMENSIONS}`, updatedBy: userId };
  await saveSettings(pool, tenantId, model, new Date());
  while (await embedPending(ours.ctx.services, new AbortController().signal));
  const hybrid = await askAll(ours, questions);
  const byBits = await recallOfBits(ours, embedder, questions);
  const withPrefix = (figures: Map<string, number>, prefix: string, kinds: readonly string[]) =>
    Object.fromEntries(kinds.map(kind => [`${prefix} R@5 ${kind}`, figures.get(kind) ?? Number.NaN]));
  return {
    ...withPrefix(lexical.recall, 'text', ['all', 'single', 'multi', 'update', 'time', 'abstain', 'paraphrase']),
    ...withPrefix(hybrid.recall, 'hybrid', ['all', 'single', 'multi', 'update', 'time', 'abstain', 'paraphrase']),
    'vectors R@10 of exact': byBits,
    'stale hits': lexical.stale + hybrid.stale,
    'foreign hits': lexical.foreign + hybrid.foreign,
  };
}

const NEAREST = 10;
const COMPARED_QUERIES = 50;

/**
 * Returns the share of the nearest texts, by vectors of full precision, that the search by signs and 8-bit codes finds,
 * too.
 */
async function recallOfBits(who: MemoryUser, embedder: Embedder, questions: readonly Question[]): Promise<number> {
  const { pool } = who.ctx.services;
  const scope = scopeOf(who.principal);
  const { rows } = await pool.query<{ id: string; text: string }>(
    'SELECT id, text FROM memory_chunks WHERE tenant_id = $1',
    [scope.tenantId],
  );
  const vectors = rows.map(({ id, text }) => ({ id, vector: embedder.embed(text, DIMENSIONS) }));
  const asked = questions.filter(({ kind }) => kind === 'paraphrase').slice(0, COMPARED_QUERIES);
  let found = 0;
  let exact = 0;
  for (const { query } of asked) {
    const wanted = embedder.embed(query, DIMENSIONS);
    const near = new Map(vectors.map(({ id, vector }) => [id, cosineOf(wanted, vector)]));
    const best = [...near.values()].sort((a, b) => b - a).slice(0, NEAREST);
    const all = { narrowing: {}, items: false, chunks: true };
    const { hits } = await searchByMeaning(who.ctx.services, scope, query, all);
    // Equally near texts are interchangeable. A text that is not nearer than a random one is not a hit.
    const least = best.at(-1) ?? 1;
    const worth = best.filter(score => score >= minCosine(DIMENSIONS)).length;
    exact += worth;
    found += Math.min(worth, hits.slice(0, NEAREST).filter(({ id }) => (near.get(id) ?? 0) >= least - 1e-9).length);
  }
  return exact === 0 ? 1 : found / exact;
}

function cosineOf(one: readonly number[], other: readonly number[]): number {
  let [dot, ones, others] = [0, 0, 0];
  for (const [at, value] of one.entries()) {
    const beside = other[at] ?? 0;
    dot += value * beside;
    ones += value * value;
    others += beside * beside;
  }
  const lengths = Math.sqrt(ones * others);
  return lengths === 0 ? 0 : dot / lengths;
}

async function askAll(who: MemoryUser, questions: readonly Question[]) {
  const sums = new Map<string, { right: number; asked: number }>();
  let stale = 0;
  let foreign = 0;
  for (const { kind, query, expected, stale: outdated, asOf } of questions) {
    const found = await search(who, query, { k: TOP, ...(asOf === undefined ? {} : { as_of: asOf }) });
    const right =
      expected.length === 0
        ? found.length === 0
          ? 1
          : 0
        : expected.filter(text => found.includes(text)).length / expected.length;
    // Paraphrases intentionally have different words, so they are not part of "all".
    for (const sum of kind === 'paraphrase' ? [kind] : [kind, 'all']) {
      const known = sums.get(sum) ?? { right: 0, asked: 0 };
      sums.set(sum, { right: known.right + right, asked: known.asked + 1 });
    }
    stale += found.filter(text => text === outdated).length;
    foreign += found.filter(text => text.startsWith('FOREIGN')).length;
  }
  const recall = new Map([...sums].map(([kind, sum]) => [kind, sum.right / sum.asked]));
  return { recall, stale, foreign };
}
