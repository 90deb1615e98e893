'use client';
import { CircleAlert, TriangleAlert, X } from 'lucide-react';
import { useState } from 'react';
import { useSession } from '../session/session.tsx';
import { keepCookie } from '../ui/browser-cookie.ts';
import { ButtonLink, IconButton } from '../ui/button.tsx';
import { cx } from '../ui/classes.ts';
import { latestWarning, warningText } from './allowance-notice.tsx';
import { NOTICE_COOKIE } from './notice-cookie.ts';
import { useBillingStatus } from './use-billing-status.ts';
import type { BillingStatus } from './wire.ts';

/**
 * A notice on every page once 80 % or all of the current allowance is used. The server renders it with the page, so that nothing moves
 * after hydration. A dismissed notice stays hidden until the next threshold or the next allowance.
 */
export function CreditNotice({ initial, dismissed }: { initial: BillingStatus | null; dismissed: string | undefined }) {
  const { scope } = useSession();
  const { data } = useBillingStatus({ initial });
  const [hidden, setHidden] = useState(dismissed);
  const warning = data && latestWarning(data);
  if (!data || !warning) return null;
  const id = `${scope.tenant}:${warning.percent}:${warning.at}`;
  if (id === hidden) return null;
  const all = warning.percent === 100;
  const Icon = all ? CircleAlert : TriangleAlert;
  return (
    <section
      aria-label="Credits"
      className={cx(
        'flex items-center gap-2 border-b py-1.5 pr-2 pl-4 text-sm sm:pl-6',
        all ? 'bg-bad-soft text-bad' : 'bg-warn-soft text-warn',
      )}
    >
      <Icon aria-hidden className="size-4 shrink-0" />
      <p className="min-w-0 flex-1">{warningText(warning.percent, data)}</p>
      <ButtonLink href="/billing" size="sm">
        See billing
      </ButtonLink>
      <IconButton
        label="Dismiss"
        size="sm"
        tooltip={false}
        className="text-current"
        onClick={() => {
          // Kept for a year, the longest time that an allowance can last.
          keepCookie(NOTICE_COOKIE, id);
          setHidden(id);
        }}
      >
        <X aria-hidden className="size-3.5" />
      </IconButton>
    </section>
  );
}
