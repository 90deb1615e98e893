import type { ReactNode } from 'react';
import { loadMeIfAny } from '../(console)/load-me.ts';
import { ConsoleFrame } from '../console-frame.tsx';

/** Shows the console's frame to signed-in users, so that the navigation stays available on a page that does not exist. */
export default async function MissingPageLayout({ children }: { children: ReactNode }) {
  const { me } = await loadMeIfAny();
  return me === null ? (
    <main className="flex min-h-dvh flex-col">{children}</main>
  ) : (
    <ConsoleFrame me={me}>{children}</ConsoleFrame>
  );
}
