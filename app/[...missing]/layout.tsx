import type { ReactNode } from 'react';
import { loadMeIfAny } from '../(console)/load-me.ts';
import { ConsoleFrame } from '../console-frame.tsx';

/** The console's frame for those who are signed in: from a page that does not exist, every other is one click away. */
export default async function MissingPageLayout({ children }: { children: ReactNode }) {
  const { me } = await loadMeIfAny();
  return me === null ? (
    <main className="flex min-h-dvh flex-col">{children}</main>
  ) : (
    <ConsoleFrame me={me}>{children}</ConsoleFrame>
  );
}
