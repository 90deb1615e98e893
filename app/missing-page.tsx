import { ButtonLink } from '@/components/ui/button.tsx';

/** Says that a page does not exist. */
export function MissingPage() {
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
