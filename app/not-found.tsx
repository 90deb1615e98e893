import { MissingPage } from './missing-page.tsx';

// Next loads this with every page, so the console's frame is in the layout of [...missing] instead.
export default function NotFound() {
  return (
    <main className="flex min-h-dvh flex-col">
      <MissingPage />
    </main>
  );
}
