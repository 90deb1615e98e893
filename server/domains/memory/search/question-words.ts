import { fold, wordsOf } from '../folding.ts';

/**
 * The words of a question in languages that do not separate words by blanks. Memories are indexed by pairs of characters
 * (folding.ts), and in Korean by words with their particles. A question is searched without the pairs across two of its words
 * and without its own particles: no answer repeats them, and they would outweigh its subject.
 */

/** Matches a sequence of characters without blanks. The mark for long vowels belongs to no script. */
const RUN =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\u30fc]+/gu;
const LONG_VOWEL = '\u30fc';
const HAN_SIGN = /^\p{Script=Han}$/u;
const HANGUL_WORD = /^\p{Script=Hangul}{2,40}$/u;

/** Words that do not describe the subject of a question. */
const COMMON = new Set(
  [
    // “Now” asks for the newest memory, which comes first anyway. Its letters would also match “known”.
    'now currently nowadays still please tell jetzt aktuell derzeit zurzeit bitte maintenant actuellement ahora actualmente adesso attualmente agora atualmente nu momenteel',
    // Chinese
    '我 你 您 他 她 它 我们 你们 他们 她们 我的 你的 您的 他的 她的 我们的 的 地 得 了 着 过 在 是 有 没有 没 不 吗 呢 吧 啊 和 与 跟 或 也 都 就 还 这 那 这个 那个 哪 哪个 哪里 哪儿 哪些 什么 什么样 谁 怎么 怎样 如何 为什么 为何 什么时候 何时 多少 几 请 请问 告诉 知道 要 会 能 可以 把 被 给 对 从 到 去 很 个 上 里',
    '們 我們 你們 他們 我們的 這 這個 那個 個 哪裡 哪兒 什麼 誰 怎麼 為什麼 請 請問 對 從 還 沒有 沒 嗎 裡 過 與',
    // Japanese
    'の は が を に で と も か へ や ね よ な だ です ます でした ました ません ください から まで より など て た し する した して いる いた ある あった なる れる られる れ られ たい い これ それ あれ この その あの どこ どれ どの どんな どう どうやって 何 なに なん 誰 だれ いつ なぜ どうして いくつ 私 わたし 僕 ぼく 俺 あなた 彼 彼女 こと もの さん',
    // Thai
    'ผม ฉัน ดิฉัน หนู คุณ เขา เธอ เรา มัน ที่ ที่ไหน ไหน อะไร ใคร เมื่อไหร่ เมื่อไร อย่างไร ยังไง ทำไม เท่าไหร่ เท่าไร กี่ ไหม หรือ และ กับ ของ ใน บน จาก ถึง เป็น คือ อยู่ มี ไม่ ได้ ให้ จะ ก็ นี้ นั้น ครับ ค่ะ คะ',
    // Korean
    '제 제가 저 저는 저의 나 나는 나의 내 내가 우리 우리는 우리가 당신 당신은 어디 어디서 어디에 어디에서 어디로 무엇 무엇을 무엇이 뭐 뭘 뭐가 누구 누가 언제 왜 어떻게 어떤 어느 몇 무슨 있나요 있어요 있습니까 있는지 하나요 인가요 것 그 이 및',
  ]
    .join(' ')
    .split(' ')
    .map(word => word.normalize('NFC')),
);
/** The particles and endings of Korean words, longest first. */
const KOREAN_ENDING =
  /(?<=.)(?:하였습니까|했습니까|입니까|합니까|습니까|이었나요|했었나요|했나요|하나요|인가요|일까요|나요|했어요|해요|어요|아요|이에요|예요|입니다|합니다|하는|하고|했던|에서는|에서|에게서|에게|한테|께서|으로|이랑|이나|까지|부터|보다|처럼|마다|은|는|이|가|을|를|의|에|로|와|과|도|만|랑)$/u;

const segmenter = new Intl.Segmenter('zh', { granularity: 'word' });

/** Returns whether a word is a prefix, which matches every word that begins with it. Only prefixes end with a star. */
export const isPrefix = (word: string): boolean => word.endsWith('*');

/** Returns the folded words of a question, some of them prefixes; empty if it consists of common words of these languages. */
export function questionWords(text: string): string[] {
  const cut = text.normalize('NFC').replace(RUN, run => ` ${contentParts(run).join(' ')} `);
  return wordsOf(fold(cut)).flatMap(word => {
    if (COMMON.has(word)) return [];
    // A single character is in no pair, so it finds the pairs that begin with it.
    if (HAN_SIGN.test(word)) return [`${word}*`];
    return HANGUL_WORD.test(word) ? [`${word.replace(KOREAN_ENDING, '')}*`] : [word];
  });
}

/**
 * Returns the pairs of characters of a word. Single characters, which a mark for long vowels separates, count only if there are
 * no pairs.
 */
function pairsOf(word: string): string[] {
  const folded = wordsOf(fold(word)).filter(pair => pair !== LONG_VOWEL);
  const pairs = folded.filter(pair => pair.length > 1);
  return pairs.length > 0 ? pairs : folded;
}

/**
 * Returns the words of a sequence that describe its subject. Adjacent characters that the dictionary does not join are one
 * word.
 */
function contentParts(run: string): string[] {
  const parts: string[] = [];
  let single = '';
  for (const { segment } of segmenter.segment(run)) {
    const isCommon = COMMON.has(segment);
    if (!isCommon && HAN_SIGN.test(segment)) {
      single += segment;
      continue;
    }
    if (single !== '') parts.push(single);
    single = '';
    if (!isCommon) parts.push(...pairsOf(segment));
  }
  return single === '' ? parts : [...parts, single];
}
