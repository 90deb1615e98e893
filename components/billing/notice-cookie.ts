/** Which credit notice was dismissed in this browser. The server reads it, so that none is drawn and taken away again. Holds no secret. */
export const NOTICE_COOKIE = 'baton_credit_notice';
