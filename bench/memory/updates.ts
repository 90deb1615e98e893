import type { Pool } from 'pg';
import { Embedder } from '../../bin/fake-model/embeddings.ts';
import { embedPending } from '../../server/domains/memory/embeddings/embed-pending.ts';
import { saveSettings } from '../../server/domains/memory/embeddings/store.ts';
import type { Embed } from '../../server/operation/embed.ts';
import type { Figures } from '../system/system.ts';
import { SeededRandom } from './random.ts';
import { createMemoryUser, indexTexts, type MemoryUser, rememberFacts, search } from './store.ts';

const SEED = 20_261_127;
const DIMENSIONS = 256;
const TOP = 5;
const FIRST = 'Anna Bruno Carla Dario Elena Felix Greta Hugo Irene Jonas Karin Lukas Marta Nils Olga Paul'.split(' ');
const LAST = 'Albers Brandt Conti Dietz Egger Falk Graf Haas Iversen Jansen'.split(' ');
const CITIES = 'Lisbon Oslo Vienna Porto Dublin Turin Ghent Malmo Basel Leeds Lyon Graz Cork Bern Riga'.split(' ');

/** Sentence forms for a fact, and for a question about it. */
const FORMS = [
  { said: 'WHO lives in WHAT with a dog.', asked: 'Where does WHO live?' },
  { said: 'WHO lives in WHAT.', asked: 'Where does WHO live?' },
  { said: 'WHO lives in WHAT with a dog. The dog barks at night.', asked: 'Where does WHO live now?' },
  { said: 'The office of WHO is in WHAT, next to the station.', asked: 'Where is the office of WHO?' },
  { said: 'WHO sees a doctor in WHAT about the knee.', asked: 'Where is the physician of WHO?' },
  { said: 'The favourite city of WHO is WHAT, as everybody knows.', asked: "What is WHO's favourite city?" },
] as const;

type Update = { old: string; now: string; question: string; subject: string };

function compose(people: number): Update[] {
  const random = new SeededRandom(SEED);
  return Array.from({ length: people }, (_, nth) => {
    const who = `${FIRST[nth % FIRST.length]} ${LAST[Math.floor(nth / FIRST.length) % LAST.length]}`;
    const form = FORMS[nth % FORMS.length] ?? FORMS[0];
    const [first, second] = [random.pick(CITIES), random.pick(CITIES)];
    const statement = (city: string) => form.said.replace('WHO', who).replace('WHAT', city);
    const now = second === first ? 'Ulm' : second;
    return { old: statement(first), now: statement(now), question: form.asked.replace('WHO', who), subject: who };
  });
}

/**
 * Returns the share of questions whose first hit is the newer of two statements that are not linked to each other, with
 * words only and with the vectors of the fake model. The statements are turns of conversations or items, and half of
 * the old ones were remembered after the new ones.
 */
export async function measureUpdates(pool: Pool, people: number): Promise<Figures> {
  const embedder = new Embedder();
  const embed: Embed = async ({ texts }) => ({
    kind: 'vectors',
    vectors: texts.map(text => embedder.embed(text, DIMENSIONS)),
  });
  const updates = compose(people);
  const [said, known] = [
    await createMemoryUser(pool, 'updates-said', embed),
    await createMemoryUser(pool, 'updates-known', embed),
  ];
  const [january, march] = ['2026-01-10T00:00:00.000Z', '2026-03-10T00:00:00.000Z'];
  for (const [nth, { old, now, subject }] of updates.entries()) {
    const statements = [
      { text: old, at: january },
      { text: now, at: march },
    ];
    for (const { text, at } of nth % 2 === 0 ? statements : statements.toReversed()) {
      await indexTexts(said, [text], new Date(at));
      await rememberFacts(known, [{ subject, text, valid_from: at }]);
    }
  }
  const byWords = [await newestFound(said, updates), await newestFound(known, updates)];
  for (const who of [said, known]) await giveVectors(pool, who);
  const hybrid = [await newestFound(said, updates), await newestFound(known, updates)];
  return {
    'text R@1 updates said': byWords[0] ?? Number.NaN,
    'text R@1 updates known': byWords[1] ?? Number.NaN,
    'hybrid R@1 updates said': hybrid[0] ?? Number.NaN,
    'hybrid R@1 updates known': hybrid[1] ?? Number.NaN,
  };
}

async function giveVectors(pool: Pool, { principal, ctx }: MemoryUser): Promise<void> {
  const { tenantId, userId } = principal;
  const model = { model: 'fake/model', dimensions: DIMENSIONS, space: `fake/model#${DIMENSIONS}`, updatedBy: userId };
  await saveSettings(pool, tenantId, model, new Date());
  while (await embedPending(ctx.services, new AbortController().signal));
}

async function newestFound(who: MemoryUser, updates: readonly Update[]): Promise<number> {
  let right = 0;
  for (const { now, question } of updates) {
    const [first] = await search(who, question, { k: TOP });
    if (first === now) right += 1;
  }
  return right / updates.length;
}
