import { ButtonLink } from '@/components/ui/button.tsx';
import { loadMeIfAny } from './(console)/load-me.ts';
import { ConsoleFrame } from './console-frame.tsx';

/** A page that does not exist, in the console's frame for those who are signed in: everything else is one click away. */
export default async function NotFound() {
  const { me } = await loadMeIfAny().catch(() => ({ me: null }));
  if (me === null)
    return (
      <main className="flex min-h-dvh flex-col">
        <Message />
      </main>
    );
  return (
    <ConsoleFrame me={me}>
      <Message />
    </ConsoleFrame>
  );
}

function Message() {
  return (
    <div className="flex flex-1 flex-col items-center justify-center gap-1 p-6 text-center">
      <h1 className="text-lg font-semibold">Page not found</h1>
      <p className="text-sm text-muted">The address is wrong, or the page no longer exists.</p>
      <ButtonLink href="/workflows" className="mt-4">
        Go to workflows
      </ButtonLink>
    </div>
  );
}
