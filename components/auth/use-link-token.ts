'use client';
import { useEffect, useState } from 'react';

/**
 * Returns the token of a link from the URL's fragment, which browsers send to no server and in no Referer header. Null until it is read, ''
 * if it is missing.
 */
export function useLinkToken(): string | null {
  const [token, setToken] = useState<string | null>(null);
  useEffect(() => setToken(new URLSearchParams(window.location.hash.slice(1)).get('token') ?? ''), []);
  return token;
}
