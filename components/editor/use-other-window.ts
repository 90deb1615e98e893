'use client';
import { useEffect, useState } from 'react';

/** `here`: a window has the editor open. `asks`: it has just opened it, and wants to hear of others. `left`: it has closed it. */
type Word = { window: string; says: 'here' | 'asks' | 'left' };

/**
 * Returns whether another window of this browser has the editor of the draft open. The windows tell each other: the server
 * knows people, not windows. `announces` is false where this window does not edit.
 */
export function useOtherWindow(user: string, workflow: string, announces: boolean): boolean {
  const [others, setOthers] = useState<ReadonlySet<string>>(new Set());
  useEffect(() => {
    if (!announces || typeof BroadcastChannel === 'undefined') return;
    const channel = new BroadcastChannel(`baton-editor:${user}:${workflow}`);
    const own = crypto.randomUUID();
    const say = (says: Word['says']) => channel.postMessage({ window: own, says } satisfies Word);
    channel.onmessage = ({ data }: MessageEvent<Word>) => {
      if (data.says === 'asks') say('here');
      setOthers(before => withWord(before, data));
    };
    const leave = () => say('left');
    // A page that the browser keeps for Back has left, and returns.
    const enter = () => say('asks');
    enter();
    window.addEventListener('pagehide', leave);
    window.addEventListener('pageshow', enter);
    return () => {
      window.removeEventListener('pagehide', leave);
      window.removeEventListener('pageshow', enter);
      leave();
      channel.close();
      setOthers(new Set());
    };
  }, [user, workflow, announces]);
  return others.size > 0;
}

/** Returns the open windows after one of them has said something. */
export function withWord(open: ReadonlySet<string>, { window, says }: Word): ReadonlySet<string> {
  if (open.has(window) === (says !== 'left')) return open;
  const next = new Set(open);
  if (says === 'left') next.delete(window);
  else next.add(window);
  return next;
}
