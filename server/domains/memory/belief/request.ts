import { normalizeBlanks } from '../folding.ts';

/** The words with which people ask to remember something, such as “remember” and “do not forget”. */
const REQUESTS = [
  // English
  "remember|(?:do not|don't|don’t|never) forget|keep in mind|bear in mind|memori[sz]e|make a note|take a note|take note|note down|write down",
  // German
  'merk(?:e|en)? (?:dir|sie sich)|merke?|vergiss nicht|vergessen sie nicht|denke? (?:daran|dran)|behalte|notiere?|schreibe? (?:dir )?auf',
  // French
  "souviens-toi|souvenez-vous|n['’]oublie[zs]? pas|retiens|retenez|rappelle-toi|rappelez-vous|mémorise[zs]?",
  // Spanish
  'recuerda|recuerde|acuérdate|no olvides|no olvide|apunta|anota|memoriza|ten en cuenta',
  // Italian
  'ricordati|ricorda|non dimenticare|tieni a mente|annota|memorizza|segnati',
  // Portuguese
  'lembra-te|lembre-se|lembra|lembre|não esqueças|não esqueça|não te esqueças|memorize|anote',
  // Dutch
  'onthoud|vergeet niet|noteer|denk eraan',
];
const REQUESTS_UNSPACED =
  /记住|記住|记下|記下|记得|記得|别忘|別忘|不要忘|覚えて|忘れないで|メモして|記憶して|기억해|기억하|잊지 ?마|메모해|จำไว้|อย่าลืม/u;
const NEGATED_UNSPACED =
  /(?:不要|别|別|不用|不必|无需|無需)(?:记|記)|覚えなくて|覚えないで|기억하지 ?(?:마|않)|ไม่ต้องจำ/u;

/** Polite words that may precede a request. They do not make it conditional, negative or another person's. */
const POLITE = [
  "please|pls|plz|kindly|also|and|so|then|now|hey|hi|hello|ok|okay|yes|well|but|great|thanks|thank you|by the way|btw|oh|for later|for next time|for the future|for the record|from now on|one more thing|just|do|always|make sure|be sure|(?:can|could|would|will) you|you (?:should|must|can|may)|i(?:'d| would|’d)? (?:like|want|need|ask) you|let's|let us|to|baton|assistant",
  'bitte|auch|und|also|dann|jetzt|übrigens|hallo|ja|gut|danke|kannst du|könntest du|können sie|könnten sie|du sollst(?: dir)?',
  "s['’]il (?:te|vous) pla[iî]t|stp|svp|merci|aussi|et|alors|bonjour|oui|peux-tu|pouvez-vous|pourrais-tu|pourriez-vous|de",
  'por favor|también|y|entonces|hola|sí|gracias|puedes|podrías|puede|per favore|anche|e|allora|ciao|sì|grazie|puoi|potresti|também|então|olá|sim|obrigad[oa]|podes|pode|poderia',
  'alsjeblieft|alstublieft|ook|en|dan|hallo|ja|dank je|kun je|kunt u|wil je',
];
/** Words that may follow a request and have no content, such as “this”. */
const REFERENCE =
  "that|this|it|these|those|the following|of|down|up|for me|please|for later|for next time|for the future|next time|always|too|also|well|thanks|thank you|dass|das|dies|es|dir|mir|bitte|dir bitte|mir bitte|folgendes|auf|que|ça|cela|ceci|le|s['’]il (?:te|vous) pla[iî]t|eso|esto|lo|por favor|che|questo|quello|lo|per favore|isso|isto|dat|dit|het|alsjeblieft";

const PREFIX = new RegExp(
  `^(?:(?:${POLITE.join('|')})(?![\\p{L}\\p{N}])[\\s,.!…-]*)*(${REQUESTS.join('|')})(?![\\p{L}\\p{N}])`,
  'iu',
);
const REFERENCES = new RegExp(`^[\\s,:：.!…-]*(?:(?:${REFERENCE})(?![\\p{L}\\p{N}])[\\s,:：.!…-]*)*`, 'iu');

/** Matches words that make a sentence conditional or uncertain. */
const CONDITION = new RegExp(
  [
    '(?<![\\p{L}\\p{N}])(?:if|unless|whether|when|whenever|in case|provided|assuming|suppose|maybe|perhaps|might|possibly|wenn|falls|sobald|sofern|vielleicht|quand|lorsque|peut-être|cuando|quizás?|tal vez|quando|qualora|forse|talvez|indien|wanneer|misschien)(?![\\p{L}\\p{N}])',
    // Only at the start of a clause: elsewhere these words are pronouns and comparisons.
    '(?:^|[,;]\\s*)(?:si|se|als)(?![\\p{L}\\p{N}])',
    '如果|要是|假如|也许|もし|かもしれ|만약|아마|ถ้า|อาจจะ',
  ].join('|'),
  'iu',
);
export const isConditional = (sentence: string): boolean => CONDITION.test(sentence);

/** Returns the sentences of a text with normalized blanks. */
export const sentencesOf = (text: string): string[] =>
  text
    .split(/(?<=[.!?。！？][)\]"'”’»]*)\s+|(?<=[。！？])|\n+(?=\s*[-*•\d\p{Lu}\p{Lo}])/u)
    .map(normalizeBlanks)
    .filter(sentence => sentence !== '');

/** A request to remember `what`. Empty: the request refers to the sentence before or after it. */
export type Request = { what: string };

/**
 * Reads a sentence as a person's own request to remember something. Returns null for every other sentence, such as a negated or conditional
 * request, a report of somebody else's request, or a question.
 */
export function requestIn(sentence: string): Request | null {
  if (/[?？]["'”’)]*$/u.test(sentence)) return null;
  if (REQUESTS_UNSPACED.test(sentence)) {
    if (NEGATED_UNSPACED.test(sentence) || isConditional(sentence)) return null;
    return {
      what: sentence
        .replace(REQUESTS_UNSPACED, ' ')
        .replace(/^[\s请請:：,，。.]+/u, '')
        .replace(/[\s.。!！]+$/u, ''),
    };
  }
  const matched = PREFIX.exec(sentence.normalize('NFC'));
  if (matched === null || isConditional(sentence)) return null;
  const rest = sentence.slice(matched[0].length);
  return { what: rest.replace(REFERENCES, '').replace(/[\s.!…]+$/u, '') };
}
