import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Principal } from '../../operation/context.ts';
import { MINUTE_MS } from '../../platform/clock.ts';
import { createTestMember } from '../../testing/identity.ts';
import { createTestMemory, type TestMemory } from '../../testing/memory.ts';
import { scopeOf } from './scope.ts';
import { countsOfWords } from './search/word-counts.ts';

let memory: TestMemory;
beforeAll(async () => {
  memory = await createTestMemory();
});
afterAll(() => memory.close());

let people = 0;
/** Creates a member without memories. */
const somebody = (): Promise<Principal> => {
  people += 1;
  return createTestMember(memory.services, memory.tenant, 'project_contributor', `p${people}@example.com`);
};

describe('a question in a language without blanks finds its memory', () => {
  let reader: Principal;
  const memories = {
    climbing: '我每周六在奥林匹克公园攀岩。',
    allergy: '妻子对花生过敏，点菜时要小心。',
    deploy: '支付服务部署在 Frankfurt 区域。',
    cat: '我养了一只猫，名字是咪咪。',
    climbingInJapanese: '週末は代々木の体育館でクライミングをしています。',
    allergyInJapanese: '妻はピーナッツのアレルギーがあります。',
    move: '東京のオフィスは来月引っ越します。',
    hiking: '저는 주말마다 북한산에서 등산하는 것을 좋아해요.',
    server: '결제 서버는 서울 리전에서 운영됩니다.',
    climbingInThai: 'วันเสาร์ผมไปปีนเขาที่กระบี่',
    allergyInThai: 'ภรรยาแพ้ถั่วลิสง',
  };
  const noise = [
    '今天天气很好，我们去散步了。',
    '我喜欢在家里看书。',
    '明日の会議は三時からです。',
    '私は朝にコーヒーを飲みます。',
    '오늘 날씨가 좋아서 산책했어요.',
    'วันนี้อากาศดีมาก',
    'The weather was fine.',
  ];
  beforeAll(async () => {
    reader = await somebody();
    const texts = [...noise, ...Object.values(memories), ...noise.map(text => `${text} 再 また 또 อีก`)];
    await memory.said(
      reader,
      texts.map(text => ['user', text] as [string, string]),
    );
  });

  test.each<[question: string, found: keyof typeof memories]>([
    ['我喜欢在哪里攀岩？', 'climbing'],
    ['我在哪儿攀岩', 'climbing'],
    ['請問我妻子對什麼過敏？花生過敏', 'allergy'],
    ['谁对花生过敏？', 'allergy'],
    ['支付服务部署在哪个区域？', 'deploy'],
    ['支付 service 在哪里？Frankfurt?', 'deploy'],
    ['我的猫叫什么名字？', 'cat'],
    ['私はどこでクライミングをするのが好きですか？', 'climbingInJapanese'],
    ['妻は何のアレルギーがありますか', 'allergyInJapanese'],
    ['東京のオフィスはいつ引っ越しますか？', 'move'],
    ['オフィス move 東京 when?', 'move'],
    ['제가 어디에서 등산을 좋아하나요?', 'hiking'],
    ['등산은 어디서 하나요', 'hiking'],
    ['결제 서버가 어느 리전에 있나요?', 'server'],
    ['ผมชอบปีนเขาที่ไหน', 'climbingInThai'],
    ['ภรรยาแพ้อะไร', 'allergyInThai'],
  ])('%s', async (question, found) => {
    expect((await memory.find(reader, question, { k: 5 }))[0]).toBe(memories[found]);
  });

  test('a question about something unknown finds no memory', async () => {
    for (const question of [
      '我的护照在哪里？',
      'パスポートはどこですか',
      '여권은 어디에 있나요?',
      'หนังสือเดินทางอยู่ที่ไหน',
    ]) {
      expect([question, await memory.find(reader, question)]).toEqual([question, []]);
    }
  });
});

describe('a search finds', () => {
  let reader: Principal;
  const noise = Array.from(
    { length: 30 },
    (_, at) => ['user', `Remark ${at} on the weather of the day`] as [string, string],
  );
  beforeAll(async () => {
    reader = await somebody();
    await memory.said(reader, [
      ...noise,
      ['user', 'We deployed the payment service to Frankfurt.'],
      ['user', 'Der Bericht über die Häuser in Köln ist fertig.'],
      ['user', 'The job failed with ERR_CONN_4711 at midnight.'],
      ['user', '東京のオフィスは来月引っ越します。'],
      ['user', 'My favourite café is the Crème Brûlée on Straße des 17. Juni.'],
      ['user', 'Kubernetes restarts the pods every night.'],
      ['user', 'The red car is in the garage.'],
      ['user', 'The car that I rented was blue, not red.'],
    ]);
  });

  test.each([
    ['other forms of a word', 'deploying payments', 'We deployed the payment service to Frankfurt.'],
    ['a question in full', 'Where did we deploy the payment service?', 'We deployed the payment service to Frankfurt.'],
    ['words without their accents', 'creme brulee', 'My favourite café is the Crème Brûlée on Straße des 17. Juni.'],
    [
      'words in capitals with accents',
      'CRÈME STRASSE',
      'My favourite café is the Crème Brûlée on Straße des 17. Juni.',
    ],
    ['stems of other languages', 'der Bericht über ein Haus', 'Der Bericht über die Häuser in Köln ist fertig.'],
    ['an identifier', 'ERR_CONN_4711', 'The job failed with ERR_CONN_4711 at midnight.'],
    ['a part of an identifier', 'CONN_47', 'The job failed with ERR_CONN_4711 at midnight.'],
    ['a word that is misspelt', 'kuberntes', 'Kubernetes restarts the pods every night.'],
    ['a script without blanks', '引っ越し', '東京のオフィスは来月引っ越します。'],
    ['a phrase', '"red car"', 'The red car is in the garage.'],
    ['a word without another', 'car -blue', 'The red car is in the garage.'],
  ])('%s', async (_, query, text) => {
    expect((await memory.find(reader, query, { k: 5 }))[0]).toBe(text);
  });

  test.each([
    ['to be or not to be', 'He asked: “To be, or not to be?”'],
    ['THE WHO', 'We heard The Who in concert.'],
    ['once more', 'Play it once more!'],
    ["what's it", "Tell me what's it about"],
  ])('a phrase of common words: "%s"', async (phrase, text) => {
    const person = await somebody();
    await memory.said(person, [
      ['user', text],
      ['user', 'It is not to him or to be, the person who is more of it.'],
    ]);
    expect(await memory.find(person, `"${phrase}"`)).toEqual([text]);
    expect(await memory.find(person, `"${phrase}" -zebra`)).toEqual([text]);
    expect(await memory.find(person, `"${phrase} zebra"`)).toEqual([]);
  });

  test('no text that has an excluded word or lacks the phrase', async () => {
    expect(await memory.find(reader, 'car -blue')).toEqual(['The red car is in the garage.']);
    expect(await memory.find(reader, '"red car"')).toEqual(['The red car is in the garage.']);
  });

  test('no text for an unknown word', async () => {
    expect(await memory.find(reader, 'xylophone quartet')).toEqual([]);
    expect(await memory.find(reader, 'the')).toEqual([]);
    expect(await memory.find(reader, '% _ \\ % : * & | ! ( ) <->')).toEqual([]);
  });

  test('a hit with its rank in each signal, if `explain` is set', async () => {
    const found = await memory.search(reader, 'payment service', { explain: true });
    expect(found).toMatchObject({ signals: ['text', 'trigram', 'subject', 'recency'], degraded: [], truncated: false });
    expect(found.hits[0]?.ranks).toEqual({ text: 1, recency: expect.any(Number) });
    expect((await memory.search(reader, 'payment service')).hits[0]).not.toHaveProperty('ranks');
  });

  test('a memory by the id of its episode or chunk', async () => {
    const { hits } = await memory.search(reader, 'ERR_CONN_4711', { k: 1 });
    const [hit] = hits;
    expect(await memory.find(reader, String(hit?.id), { k: 1 })).toEqual([hit?.text]);
    expect((await memory.search(reader, `what is ${hit?.episode_id}?`)).hits.map(each => each.episode_id)).toContain(
      hit?.episode_id,
    );
  });
});

describe('the hits of a search', () => {
  test('are limited by `k` and `max_tokens`', async () => {
    const reader = await somebody();
    const turns = Array.from(
      { length: 12 },
      (_, at) => ['user', `Budget line ${at}: ${'figure '.repeat(at + 1)}`] as [string, string],
    );
    await memory.said(reader, turns);
    expect(await memory.find(reader, 'budget line', { k: 12 })).toHaveLength(12);
    expect(await memory.find(reader, 'budget line', { k: 11 })).toHaveLength(11);
    expect(await memory.find(reader, 'budget line', { k: 1 })).toHaveLength(1);
    const all = await memory.search(reader, 'budget line', { k: 12 });
    const fits = await memory.search(reader, 'budget line', { k: 12, max_tokens: all.tokens });
    expect(fits).toMatchObject({ truncated: false, tokens: all.tokens });
    const cut = await memory.search(reader, 'budget line', { k: 12, max_tokens: all.tokens - 1 });
    expect(cut.truncated).toBe(true);
    expect(cut.tokens).toBeLessThan(all.tokens);
    for (const wrong of [{ k: 0 }, { k: 101 }, { max_tokens: 49 }, { max_tokens: 50_001 }]) {
      await expect(memory.search(reader, 'budget', wrong)).rejects.toMatchObject({ status: 422 });
    }
    await expect(memory.search(reader, 'x'.repeat(1000))).resolves.toMatchObject({ hits: [] });
    await expect(memory.search(reader, 'x'.repeat(1001))).rejects.toMatchObject({ status: 422 });
  });

  test('contain no text twice, and similar texts come later', async () => {
    const reader = await somebody();
    await memory.said(reader, [
      ['user', 'The invoice printer jams on Mondays.'],
      ['assistant', 'The invoice printer jams on mondays!'],
      ['user', 'The invoice printer jams on Mondays again.'],
      ['user', 'Somebody ordered a new printer for invoices yesterday.'],
    ]);
    const found = await memory.find(reader, 'invoice printer');
    expect(found).toHaveLength(3);
    expect(found[1]).toBe('Somebody ordered a new printer for invoices yesterday.');
  });

  test('have the requested kinds', async () => {
    const reader = await somebody();
    await memory.said(reader, [['user', 'Deliveries arrive at noon.']]);
    await memory.remember(reader, 'deliveries', 'Deliveries should be left at the gate.', { kind: 'instruction' });
    await memory.remember(reader, 'deliveries', 'Deliveries come from Lyon.', { kind: 'fact' });
    expect(await memory.find(reader, 'deliveries')).toHaveLength(3);
    expect(await memory.find(reader, 'deliveries', { kinds: ['episode'] })).toEqual(['Deliveries arrive at noon.']);
    expect(await memory.find(reader, 'deliveries', { kinds: ['fact', 'preference'] })).toEqual([
      'Deliveries come from Lyon.',
    ]);
  });

  test('begin with the item whose subject the query names', async () => {
    const reader = await somebody();
    await memory.remember(reader, 'Ada Lovelace', 'Likes tea.');
    await memory.said(reader, [['user', 'Ada Lovelace met Ada Lovelace, said Ada Lovelace of Ada Lovelace.']]);
    expect((await memory.find(reader, 'ada lovelace'))[0]).toBe('Likes tea.');
  });

  test('contain no expired and no proposed items', async () => {
    const reader = await somebody();
    const at = memory.services.clock.now();
    const inAnHour = new Date(at + 3_600_000).toISOString();
    const anHourAgo = new Date(at - 3_600_000).toISOString();
    const before = { valid_from: new Date(at - 7_200_000).toISOString() };
    await memory.remember(reader, 'parking', 'Parking is free today.', { ...before, expires_at: inAnHour });
    await memory.remember(reader, 'parking', 'Parking was free yesterday.', { ...before, expires_at: anHourAgo });
    await memory.call(reader, 'memory_propose_items', {
      items: [{ subject: 'parking', text: 'Parking may be free.' }],
    });
    expect(await memory.find(reader, 'parking')).toEqual(['Parking is free today.']);
  });
});

test('words that thousands of memories share find memories together and alone', async () => {
  const reader = await somebody();
  const turns = (text: (at: number) => string) =>
    Array.from({ length: 500 }, (_, at) => ['user', text(at)] as [string, string]);
  await memory.said(
    reader,
    turns(at => `Parcel ${at} has its usual size`),
  );
  for (const from of [0, 500, 1000, 1500])
    await memory.said(
      reader,
      turns(at => `Ticket ${from + at} about the common topic`),
    );
  await memory.said(reader, [['user', 'The common topic was closed by Zoltan.']]);
  // The second search uses the cached counts of common words.
  for (let time = 0; time < 2; time++) {
    expect((await memory.find(reader, 'who closed the common topic?'))[0]).toBe(
      'The common topic was closed by Zoltan.',
    );
    expect((await memory.find(reader, 'ticket 1234'))[0]).toBe('Ticket 1234 about the common topic');
    expect(await memory.find(reader, 'common topic', { k: 20 })).toHaveLength(20);
    expect((await memory.find(reader, 'ticket parcel topic'))[0]).toMatch(/^Ticket \d+ about the common topic$/);
  }
});

test('words are counted per reader and per instant', async () => {
  const [reader, other] = [await somebody(), await somebody()];
  const turns = Array.from({ length: 500 }, (_, at) => ['user', `Lighthouse ${at}`] as [string, string]);
  await memory.said(reader, turns);
  await memory.said(other, [['user', 'The lighthouse is red.']]);
  const countTokens = async (by: Principal, { at, now = 0 }: { at?: Date; now?: number } = {}) => {
    const given = { items: true, chunks: true, itemKinds: [], at: at ?? new Date(0), isPast: at !== undefined };
    const [word] = await countsOfWords(
      memory.services.pool,
      scopeOf(by),
      { ...given, includeSuperseded: false },
      { words: ['lighthouse'], language: 'english', now },
    );
    return word?.found;
  };
  expect(await countTokens(reader)).toBe(500);
  expect(await countTokens(other)).toBe(1);
  expect(await countTokens(reader, { at: new Date(0) })).toBe(0);
  await memory.services.pool.query("DELETE FROM memory_chunks WHERE text LIKE 'Lighthouse %'");
  expect(await countTokens(reader)).toBe(500);
  expect(await countTokens(reader, { now: 10 * MINUTE_MS })).toBe(0);
});

test('search works without trigrams, and reports them as degraded', async () => {
  await using other = { memory: await createTestMemory(), [Symbol.asyncDispose]: () => other.memory.close() };
  const { owner } = other.memory.tenant;
  await other.memory.db.pool.query('DROP EXTENSION pg_trgm CASCADE');
  await other.memory.said(owner, [['user', 'Kubernetes restarts the pods.']]);
  const found = await other.memory.search(owner, 'restarts of kuberntes');
  expect(found).toMatchObject({ signals: ['text', 'subject', 'recency'], degraded: ['trigram'] });
  expect(found.hits.map(({ text }) => text)).toEqual(['Kubernetes restarts the pods.']);
});
