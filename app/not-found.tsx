import { MissingPage } from './missing-page.tsx';

// A part of every page: the frame of the console would be loaded with each, so that is in the layout of [...missing].
export default function NotFound() {
  return (
    <main className="flex min-h-dvh flex-col">
      <MissingPage />
    </main>
  );
}
