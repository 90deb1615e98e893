'use client';
import { useEffect, useState } from 'react';

/** The token of a link, from the URL's fragment, which no server or Referer header gets to see. Null until it is read, '' where there is none. */
export function useLinkToken(): string | null {
  const [token, setToken] = useState<string | null>(null);
  useEffect(() => setToken(new URLSearchParams(window.location.hash.slice(1)).get('token') ?? ''), []);
  return token;
}
