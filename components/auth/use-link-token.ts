'use client';
import { useEffect, useState } from 'react';

/**
 * Returns the token of a link, from the URL's fragment, which neither a server nor a Referer header receives. Null
 * until it is read, '' if there is none.
 */
export function useLinkToken(): string | null {
  const [token, setToken] = useState<string | null>(null);
  useEffect(() => setToken(new URLSearchParams(window.location.hash.slice(1)).get('token') ?? ''), []);
  return token;
}
