'use client';
import type { ReactNode } from 'react';
import { Link } from '../ui/link.tsx';
import { useSession } from './session.tsx';

/** A link to something of a project, which need not be the chosen one: `?project=` makes the server switch on arrival. */
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
    // A plain link: another scope begins with a full load.
    <a href={`${href}${separator}project=${project}`} className={className}>
      {children}
    </a>
  );
}
