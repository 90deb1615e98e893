/** Returns next-auth's answer to a sign-out, with its cookies, leading to `url`, where the session at the issuer of OpenID Connect ends. */
export function signedOut(answer: Response, url: string): Response {
  const headers = new Headers(answer.headers);
  headers.delete('content-length');
  if (headers.has('location')) {
    headers.set('location', url);
    return new Response(null, { status: answer.status, headers });
  }
  headers.set('content-type', 'application/json');
  return new Response(JSON.stringify({ url }), { status: answer.status, headers });
}
