'use client';
import { Check, Link2 } from 'lucide-react';
import { useSession } from '../shell/session.tsx';
import { IconButton } from '../ui/button.tsx';
import { useCopy } from '../ui/copy.tsx';
import { shareableUrl } from './shareable-url.ts';

/** Copies a link to what the page shows, which leads other members of the project here, from any project. */
export function ShareLink() {
  const { scope } = useSession();
  const { copied, copy } = useCopy();
  return (
    <IconButton
      label={copied ? 'Copied' : 'Copy link'}
      size="sm"
      onClick={() => void copy(shareableUrl(window.location.href, scope))}
    >
      {copied ? <Check aria-hidden className="size-3.5 text-ok" /> : <Link2 aria-hidden className="size-3.5" />}
    </IconButton>
  );
}
