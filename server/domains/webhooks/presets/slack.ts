import { bytesStartAsJson } from '../body/json.ts';
import { isTimely } from '../signature.ts';
import { digestOfHex, identityOf, isSignedWith } from './hmac.ts';
import { jsonOrForm, type PresetRules } from './preset.ts';

const SIGNATURE = 'x-slack-signature';
const TIMESTAMP = 'x-slack-request-timestamp';
const PREFIX = 'v0=';

/** Slack: `X-Slack-Signature` is `v0=` and the hex HMAC-SHA256 of `v0:<X-Slack-Request-Timestamp>:<body>`. */
export const slackPreset: PresetRules = {
  verify({ body, header }, { secrets, now }) {
    const given = header(SIGNATURE);
    const timestamp = header(TIMESTAMP);
    const digest = given?.startsWith(PREFIX) ? digestOfHex(given.slice(PREFIX.length)) : null;
    const signed = isSignedWith(secrets, [`v0:${timestamp}:`, body], digest === null ? [] : [digest]);
    if (given === undefined || timestamp === undefined) return 'missing_signature';
    if (!isTimely(timestamp, true, now)) return 'bad_timestamp';
    return signed ? null : 'bad_signature';
  },
  format: jsonOrForm,
  // Slash commands and interactive messages: Slack wants 200, and shows the answer to the person who typed.
  wantsEmptyAnswer: ({ body }) => !bytesStartAsJson(body),
  identify({ header }, { event_id }, now) {
    // When Slack repeats a delivery, it has the same event id, with a new time and signature.
    if (typeof event_id === 'string' && event_id !== '') return identityOf(['slack', event_id], now);
    return identityOf(['slack', '', header(SIGNATURE) ?? ''], now);
  },
  acknowledge(_received, { type, challenge }) {
    return type === 'url_verification' && typeof challenge === 'string' ? { challenge } : null;
  },
};
