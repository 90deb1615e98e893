/**
 * The cookie with the credit notice that was dismissed in this browser. The server reads it, so that the notice does not appear and then
 * vanish. Contains no secret.
 */
export const NOTICE_COOKIE = 'baton_credit_notice';
