'use client';
import type { ReactNode } from 'react';
import { Link } from '../ui/link.tsx';
import { useSession } from './session.tsx';

/** A link to a page of a project that may not be the current one: `?project=` makes the server switch on arrival. */
export function ScopedLink({
  href,
  project,
  className,
  children,
}: {
  href: string;
  project: string;
  className?: string;
  children: ReactNode;
}) {
  const { scope } = useSession();
  if (project === scope.project)
    return (
      <Link href={href} className={className}>
        {children}
      </Link>
    );
  const separator = href.includes('?') ? '&' : '?';
  return (
    // A plain link, because another scope requires a full page load.
    <a href={`${href}${separator}project=${project}`} className={className}>
      {children}
    </a>
  );
}
