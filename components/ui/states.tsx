'use client';
import { CircleAlert, type LucideIcon, RotateCw } from 'lucide-react';
import type { ReactNode } from 'react';
import { Button } from './button.tsx';
import { Card } from './card.tsx';
import { CopyId } from './copy.tsx';
import { readError } from './errors.ts';

/** An empty page or list: explains its purpose and what to do next. */
export function EmptyState({
  icon: Icon,
  title,
  children,
  action,
}: {
  icon: LucideIcon;
  title: string;
  children?: ReactNode;
  action?: ReactNode;
}) {
  return (
    <div className="flex flex-col items-center px-6 py-14 text-center">
      <span className="mb-3 flex size-10 items-center justify-center rounded-lg border bg-sunken text-muted">
        <Icon aria-hidden className="size-5" />
      </span>
      <p className="text-lg font-semibold">{title}</p>
      {children ? <div className="mt-1 max-w-110 text-sm text-muted">{children}</div> : null}
      {action ? <div className="mt-4 flex flex-wrap justify-center gap-2">{action}</div> : null}
    </div>
  );
}

/** Replaces a page that viewers may not use. `what` is a plural: “Webhooks”. */
export function NeedsContributor({ icon, what }: { icon: LucideIcon; what: string }) {
  return (
    <Card>
      <EmptyState icon={icon} title={`${what} need the contributor role`}>
        Ask an admin of the workspace to change your role on this project.
      </EmptyState>
    </Card>
  );
}

/** An error: its message, a retry button, and the request id for the operator. */
export function ErrorState({ error, onRetry, title }: { error: unknown; onRetry?: () => void; title?: string }) {
  const problem = readError(error);
  return (
    <div role="alert" className="flex flex-col items-center px-6 py-14 text-center">
      <span className="mb-3 flex size-10 items-center justify-center rounded-lg border bg-bad-soft text-bad">
        <CircleAlert aria-hidden className="size-5" />
      </span>
      <p className="text-lg font-semibold">{title ?? (problem.status === 404 ? 'Not found' : 'Could not load this')}</p>
      <p className="mt-1 max-w-110 text-sm text-muted">{problem.message}</p>
      {onRetry ? (
        <Button className="mt-4" icon={<RotateCw aria-hidden className="size-3.5" />} onClick={onRetry}>
          Try again
        </Button>
      ) : null}
      {problem.requestId ? (
        <p className="mt-3 flex items-center gap-1 text-xs text-faint">
          Request <CopyId id={problem.requestId} />
        </p>
      ) : null}
    </div>
  );
}

/** The error of a form. */
export function FormError({ error }: { error: unknown }) {
  if (!error) return null;
  const problem = readError(error);
  return (
    <div role="alert" className="rounded-md border border-bad/40 bg-bad-soft px-3 py-2 text-sm text-bad">
      {problem.message}
      {problem.details.length > 0 ? (
        <ul className="mt-1 list-disc pl-4 text-xs">
          {problem.details.slice(0, 6).map(detail => (
            <li key={`${detail.path}:${detail.message}`}>
              {detail.path ? <code>{detail.path}</code> : null} {detail.message}
            </li>
          ))}
        </ul>
      ) : null}
    </div>
  );
}
