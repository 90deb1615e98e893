/** The page for a link without its token. */
export function BrokenLink({ what }: { what: string }) {
  return (
    <>
      <h1 className="text-lg font-semibold">This link is incomplete</h1>
      <p className="mt-1 text-sm text-muted">Open the {what} exactly as it was sent to you, or ask for a new one.</p>
    </>
  );
}
