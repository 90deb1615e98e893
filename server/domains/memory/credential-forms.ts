/**
 * The documented forms of keys. Repetitions in patterns that can match at many positions are bounded. Otherwise 1 MiB of `a.` or `eyJ-`
 * would be scanned to its end from each position.
 */
const KEYS: readonly RegExp[] = [
  /-----BEGIN (?:[A-Z]{1,20} ){0,4}PRIVATE KEY-----/,
  /\bAGE-SECRET-KEY-1[0-9A-Z]{50,}/,
  /\b(?:AKIA|ASIA)[0-9A-Z]{16}\b/,
  /\bgh[pousr]_[A-Za-z0-9]{36,}\b/,
  /\bgithub_pat_[A-Za-z0-9_]{40,}\b/,
  /\bgl(?:pat|dt|rt|ft|soat|cbt|ptt|agent)-[\w-]{20,}\b/,
  /\bxox[abeoprs]-[A-Za-z0-9-]{10,}\b/,
  /\bxapp-\d-[A-Za-z0-9-]{10,}\b/,
  /\bsk-(?:ant-|proj-|live-|test-)?[A-Za-z0-9_-]{20,}\b/,
  /\b[rs]k_(?:live|test)_[A-Za-z0-9]{16,}\b/,
  /\bAIza[0-9A-Za-z_-]{35}/,
  /\bGOCSPX-[\w-]{20,}/,
  /\bya29\.[\w-]{20,}/,
  /\bpat_[0-9A-Za-z]{46}\b/,
  /\bwhsec_[A-Za-z0-9+/=]{20,}/,
  // npm, Hugging Face, SendGrid, PyPI, RubyGems, Docker, crates.io
  /\bnpm_[A-Za-z0-9]{36,}\b/,
  /\bhf_[A-Za-z0-9]{30,}\b/,
  /\bSG\.[\w-]{16,32}\.[\w-]{32,64}/,
  /\bpypi-[\w-]{50,}/,
  /\brubygems_[0-9a-f]{48}\b/,
  /\bdckr_(?:pat|oat)_[\w-]{20,}/,
  /\bcio[A-Za-z0-9]{32}\b/,
  // Groq, Replicate, Perplexity, xAI
  /\b(?:gsk_|r8_|pplx-|xai-)[A-Za-z0-9]{30,}\b/,
  // DigitalOcean, Shopify, Databricks, Vault, Supabase, Figma, Linear, Notion, Airtable, Postman, New Relic, Square, Mailchimp
  /\bdo[opr]_v1_[0-9a-f]{40,}\b/,
  /\bshp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}\b/,
  /\bdapi[0-9a-f]{32}\b/,
  /\bhv[sbr]\.[\w-]{20,}/,
  /\bsb[ps]_[0-9a-f]{40}\b/,
  /\bfig[du]_[\w-]{30,}/,
  /\blin_(?:api|oauth)_[A-Za-z0-9]{32,}\b/,
  /\b(?:ntn|secret)_[A-Za-z0-9]{40,}\b/,
  /\bpat[A-Za-z0-9]{14}\.[0-9a-f]{64}\b/,
  /\bPMAK-[0-9a-f]{24}-[0-9a-f]{34}\b/,
  /\bNRAK-[A-Z0-9]{27}\b/,
  /\bsq0(?:atp|csp)-[\w-]{22,}/,
  /\b[0-9a-f]{32}-us\d{1,2}\b/,
  // Telegram, Twilio
  /\b\d{8,10}:AA[\w-]{33}/,
  /\bSK[0-9a-f]{32}\b/,
  // Azure
  /\b(?:AccountKey|SharedAccessKey)=[A-Za-z0-9+/=]{20,}/i,
];

/** Webhook URLs, which are credentials because anyone who knows the URL can post. */
const WEBHOOKS: readonly RegExp[] = [
  /\bhooks\.slack\.com\/(?:services|workflows|triggers)\/[\w/-]{10,}/i,
  /\bdiscord(?:app)?\.com\/api\/(?:v\d{1,2}\/)?webhooks\/\d{5,}\/[\w-]{20,}/i,
  /\.webhook\.office\.com\/webhookb?\d?\/[\w@/-]{20,}/i,
  /\boutlook\.office(?:365)?\.com\/webhook\/[\w@/-]{20,}/i,
  /\bchat\.googleapis\.com\/v1\/spaces\/[^\s?]{1,200}\?[^\s]{0,200}(?:key|token)=/i,
  /\bhooks\.zapier\.com\/hooks\/(?:catch|standard)\/\d{3,}\/[\w/]{4,}/i,
  /\bhook\.(?:[a-z]{2}\d\.)?(?:make|integromat)\.com\/\w{20,}/i,
  /\bmaker\.ifttt\.com\/trigger\/[^\s/]{1,100}\/(?:json\/)?with\/key\/[\w-]{10,}/i,
  /\bapi\.telegram\.org\/bot\d{8,10}:[\w-]{30,}/i,
  /\.logic\.azure\.com[^\s]{0,300}[?&]sig=[\w%-]{20,}/i,
  /\bopen\.(?:feishu\.cn|larksuite\.com)\/open-apis\/bot\/v2\/hook\/[\w-]{20,}/i,
  /\boapi\.dingtalk\.com\/robot\/send\?access_token=\w{20,}/i,
  /\bqyapi\.weixin\.qq\.com\/cgi-bin\/webhook\/send\?key=[\w-]{20,}/i,
  /[?&](?:sig|signature|token|access_token|api_?key|key|secret)=(?=[\w%.~-]{0,64}\d)(?=[\w%.~-]{0,64}[A-Za-z])[\w%.~-]{24,}/i,
];

const CARRIED: readonly RegExp[] = [
  /(?<![\w-])eyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]{10}/,
  /\b[a-z][a-z0-9+.-]{0,20}:\/\/[^\s/:@]{1,100}:[^\s/@]{3,200}@/i,
  /\bbearer\s+[A-Za-z0-9._~+/-]{20,}/i,
  /\b(?:password|passwd|api[_-]?key|secret|access[_-]?token)\b["']?\s*[:=]\s*["']?(?=[^\s"']{0,64}[A-Za-z])(?=[^\s"']{0,64}\d)[^\s"']{8,}/i,
];
const PATTERNS = [...KEYS, ...WEBHOOKS, ...CARRIED];

/** Returns whether a text contains what looks like a credential. */
export const looksLikeCredential = (text: string): boolean => PATTERNS.some(pattern => pattern.test(text));
