/** The `trigger_type` of a run that answers a message. */
export const CHAT_TRIGGER = 'chat';
