'use client';
import { useEffect, useState } from 'react';

/**
 * A message between windows. `here`: the window has the editor open. `asks`: the window just opened the editor and asks for the others.
 * `left`: the window closed the editor.
 */
type WindowMessage = { window: string; says: 'here' | 'asks' | 'left' };

/**
 * Returns whether another window of this browser has the editor of the draft open. The windows message each other,
 * because the server knows users, not windows. `announces` is false if this window does not edit.
 */
export function useOtherWindow(user: string, workflow: string, announces: boolean): boolean {
  const [others, setOthers] = useState<ReadonlySet<string>>(new Set());
  useEffect(() => {
    if (!announces || typeof BroadcastChannel === 'undefined') return;
    const channel = new BroadcastChannel(`baton-editor:${user}:${workflow}`);
    const own = crypto.randomUUID();
    const post = (says: WindowMessage['says']) => channel.postMessage({ window: own, says } satisfies WindowMessage);
    channel.onmessage = ({ data }: MessageEvent<WindowMessage>) => {
      if (data.says === 'asks') post('here');
      setOthers(before => applyMessage(before, data));
    };
    const leave = () => post('left');
    // A page in the browser's back/forward cache has left before, and announces itself again when it returns.
    const enter = () => post('asks');
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

/** Returns the open windows after a message. */
export function applyMessage(open: ReadonlySet<string>, { window, says }: WindowMessage): ReadonlySet<string> {
  if (open.has(window) === (says !== 'left')) return open;
  const next = new Set(open);
  if (says === 'left') next.delete(window);
  else next.add(window);
  return next;
}
