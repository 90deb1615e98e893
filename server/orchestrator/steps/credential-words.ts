/**
 * Recognizes texts that ask for a credential by their meaning, in any spelling: `githubToken`, `API-key`, "Your
 * password", "Mot de passe". People add credentials as connections. A credential that is typed into a task would be
 * stored in the event log and in the context of a model.
 */

/** Single words that mean a credential. */
const WORDS = new Set(
  `password passwords passwd pwd passwort passworts kennwort passphrase passcode passkey secret secrets credential credentials token otp totp mfa
  2fa cvv cvc jwt apikey sshkey htpasswd zugangsdaten geheimnis zugangscode geheimzahl jeton identifiants
  contrasena credenciales
  senha segredo credenciais parola credenziali wachtwoord geheim toegangscode haslo heslo losenord losenordet passord adgangskode kodeord salasana
  sifre sifreniz jelszo sifra lozinka zaporka geslo parool slaptazodis salasona sandi пароль пароля паролем токен токена секрет лозинка парола
  συνθηματικο κωδικος סיסמה סיסמא`.split(/\s+/),
);

/** Words that together mean a credential, in this order. */
const PHRASES: readonly (readonly string[])[] = [
  ...[
    'api',
    'access',
    'private',
    'secret',
    'ssh',
    'signing',
    'encryption',
    'master',
    'service',
    'account',
    'auth',
    'webhook',
    'deploy',
    'pgp',
    'gpg',
  ].map(word => [word, 'key']),
  ...['api', 'access', 'private', 'secret', 'ssh', 'auth'].map(word => [word, 'keys']),
  ...[
    'pin',
    'security',
    'verification',
    'authentication',
    'authenticator',
    'recovery',
    'backup',
    'mfa',
    'login',
    'access',
    'sms',
  ].map(word => [word, 'code']),
  ['one', 'time', 'code'],
  ...['db', 'database', 'user', 'admin', 'root', 'smtp', 'mail', 'login', 'account', 'wifi'].map(word => [
    word,
    'pass',
  ]),
  ['pass', 'word'],
  ['pass', 'code'],
  ['pass', 'phrase'],
  ['pin', 'number'],
  ['your', 'pin'],
  ['seed', 'phrase'],
  ['recovery', 'phrase'],
  ['connection', 'string'],
  ['session', 'cookie'],
  ['auth', 'header'],
  ['authorization', 'header'],
  ['api', 'schlussel'],
  ['privater', 'schlussel'],
  ['mot', 'de', 'passe'],
  ['cle', 'api'],
  ['cle', 'd', 'api'],
  ['cle', 'secrete'],
  ['cle', 'privee'],
  ['llave', 'api'],
  ['clave', 'api'],
  ['clave', 'de', 'api'],
  ['clave', 'secreta'],
  ['clave', 'de', 'acceso'],
  ['tu', 'clave'],
  ['su', 'clave'],
  ['chave', 'api'],
  ['chave', 'de', 'api'],
  ['chave', 'secreta'],
  ['chiave', 'api'],
  ['chiave', 'segreta'],
  ['palavra', 'passe'],
  ['api', 'sleutel'],
  ['klucz', 'api'],
  ['api', 'klic'],
  ['mat', 'khau'],
  ['kata', 'sandi'],
  ['api', 'anahtari'],
  ['ключ', 'api'],
  ['api', 'ключ'],
  ['секретныи', 'ключ'],
  ['كلمة', 'المرور'],
  ['كلمة', 'السر'],
];

/** Names of credentials that occur without spaces between words, or within longer words. */
const PARTS = [
  'password',
  'passwort',
  'kennwort',
  'passphrase',
  'apikey',
  'accesstoken',
  'authtoken',
  'accesskey',
  'privatekey',
  'secretkey',
  'clientsecret',
  'パスワード',
  '暗証番号',
  'トークン',
  '秘密鍵',
  'apiキー',
  '密码',
  '密碼',
  '口令',
  '密钥',
  '密鑰',
  '令牌',
  '비밀번호',
  '암호',
  '토큰',
  'पासवर्ड',
  'รหัสผ่าน',
];

/** Words that mean a credential if no other word is near, and something else otherwise. */
const ALONE = new Set(['pin', 'pass', 'clave', 'wpa']);
/** The ends of compounds written as one word, such as `githubtoken`. */
const ENDING = /(?:token|secret|passw(?:or)?d|passcode|pwd|apikey)$/;

/** Words that follow the name of a credential in a question about it, such as "password policy". */
const BENIGN = new Set(
  `policy policies length count counts limit limits budget usage reset resets manager rotation rotates expiry expires expiration lifetime age rule rules
  requirement requirements strength type types name names label labels owner provider page form field column error errors problem problems strategy
  settings symbol symbols amount address chiave santa`.split(/\s+/),
);

/** Characters that replace letters, as in `p@ssw0rd`. */
const LOOKALIKES: Readonly<Record<string, string>> = {
  '@': 'a',
  $: 's',
  '0': 'o',
  '1': 'i',
  '3': 'e',
  '4': 'a',
  '5': 's',
  '7': 't',
};
/** Invisible characters, which could hide a word within a word. */
const INVISIBLE = /\p{Default_Ignorable_Code_Point}/gu;

/** Whether a label, the name of a field or another short text asks for a credential. */
export function namesCredential(text: string): boolean {
  const words = wordsOf(text).map(word => (WORDS.has(word) ? word : unmasked(word)));
  for (let at = 0; at < words.length; at += 1) {
    const length = credentialAt(words, at);
    if (length > 0 && !BENIGN.has(words[at + length] ?? '')) return true;
  }
  if (words.some(word => BENIGN.has(word))) return false;
  // Joins separated letters, as in `p a s s w o r d`.
  const joined = words.join('');
  return ALONE.has(joined) || PARTS.some(part => joined.includes(part));
}

/** Returns the number of words from `at` on that mean a credential; 0 if none do. */
function credentialAt(words: readonly string[], at: number): number {
  const word = words[at] ?? '';
  if (WORDS.has(word) || ENDING.test(word)) return 1;
  return PHRASES.find(phrase => phrase.every((word, index) => words[at + index] === word))?.length ?? 0;
}

/** Splits `camelCase`, `snake_case` and sentences into words, in lower case and without accents. */
function wordsOf(text: string): string[] {
  return text
    .normalize('NFKC')
    .replaceAll(INVISIBLE, '')
    .replaceAll(/(\p{Ll}|\d)(\p{Lu})/gu, '$1 $2')
    .replaceAll(/(\p{Lu})(\p{Lu}\p{Ll})/gu, '$1 $2')
    .normalize('NFD')
    .replaceAll(/(\p{Script=Latin}|\p{Script=Greek}|\p{Script=Cyrillic})\p{M}+/gu, '$1')
    .normalize('NFC')
    .replaceAll('ł', 'l')
    .replaceAll('Ł', 'l')
    .replaceAll('ş', 's')
    .replaceAll('ı', 'i')
    .replaceAll('ø', 'o')
    .toLowerCase()
    .split(/[^\p{L}\p{M}\p{N}@$]+/u)
    .filter(word => word !== '');
}

const unmasked = (word: string): string => word.replaceAll(/[@$013457]/g, sign => LOOKALIKES[sign] ?? sign);

/** Asks someone to hand over the named thing, or says who owns it. */
const ASKING =
  /(?<!\p{L})(?:enter|type|paste|provide|send|give|share|tell|supply|submit|input|insert|fill|write|reply|answer|what|need|please|your|bitte|eingeben|gib|geben|dein|deine|ihr|ihre|saisir|saisissez|entrez|donnez|votre|ton|introduce|ingresa|escribe|tu|su|digite|informe|seu|sua|inserisci|tua|введите|ваш)(?!\p{L})/iu;
/** The beginning of a clause that asks about credentials, or warns of them. */
const ABOUT =
  /^(?:which|whether|should|shall|do not|don['’]t|never|no|without|welche|soll|keine?|quel|quelle)(?!\p{L})/iu;

const clausesOf = (text: string): string[] => text.split(/[.!?\n;:,()]+|\s[–—-]\s/u).map(clause => clause.trim());

/** Whether a sentence of a longer text names a credential, except in a warning. */
export function mentionsCredential(text: string): boolean {
  return clausesOf(text).some(clause => !ABOUT.test(clause) && namesCredential(clause));
}

/** Whether a question asks for a credential as its answer. */
export function requestsCredential(question: string): boolean {
  return clausesOf(question).some(clause => !ABOUT.test(clause) && ASKING.test(clause) && namesCredential(clause));
}
