'use client';
import { Menu as MenuIcon, Search } from 'lucide-react';
import dynamic from 'next/dynamic';
import { usePathname, useRouter } from 'next/navigation';
import { type ReactNode, useEffect, useState } from 'react';
import { useSession } from '../session/session.tsx';
import { IconButton } from '../ui/button.tsx';
import { cx } from '../ui/classes.ts';
import { useHotkeys } from '../ui/use-hotkeys.ts';
import { useLoadedEarly, useOpened } from '../ui/use-opened.ts';
import { Logo } from './logo.tsx';
import { settingsHome } from './pages.ts';
import { Sidebar } from './sidebar.tsx';
import { usePages } from './use-pages.ts';
import { useSidebar } from './use-sidebar.tsx';

// Loaded separately: with its dialogs, the palette would be a fifth of the JavaScript of every page.
const loadPalette = () => import('./command-palette.tsx');
const CommandPalette = dynamic(() => loadPalette().then(module => module.CommandPalette), { ssr: false });
const loadHelp = () => import('./keyboard-help.tsx');
const KeyboardHelp = dynamic(() => loadHelp().then(module => module.KeyboardHelp), { ssr: false });
const loadChat = () => import('../chat/chat-panel.tsx');
const ChatPanel = dynamic(() => loadChat().then(module => module.ChatPanel), { ssr: false });
const BrowserNotifications = dynamic(
  () => import('../notifications/browser-notifications.tsx').then(module => module.BrowserNotifications),
  { ssr: false },
);
const loadDrawer = () => import('./drawer.tsx');
const Drawer = dynamic(() => loadDrawer().then(module => module.Drawer), { ssr: false });

/** Loads the palette when ⌘ or Ctrl is pressed, before the K that opens it. */
function useEarlyPalette(): void {
  useEffect(() => {
    const onKeyDown = ({ key }: KeyboardEvent) => {
      if (key === 'Meta' || key === 'Control') void loadPalette();
    };
    window.addEventListener('keydown', onKeyDown);
    return () => window.removeEventListener('keydown', onKeyDown);
  }, []);
}

/** The frame of the console: sidebar (a drawer below 1024 px), palette, keyboard help, skip link. `notice` is shown above every page. */
export function Shell({ notice, children }: { notice?: ReactNode; children: ReactNode }) {
  const router = useRouter();
  const pathname = usePathname();
  const [palette, setPalette] = useState(false);
  const hasPalette = useOpened(palette);
  useEarlyPalette();
  useLoadedEarly(loadHelp);
  const [help, setHelp] = useState(false);
  const hasHelp = useOpened(help);
  const [drawer, setDrawer] = useState(false);
  useLoadedEarly(loadDrawer);
  const hasDrawer = useOpened(drawer);
  const { main, settings } = usePages();
  const { agents } = useSession().me;
  const { collapsed, toggle } = useSidebar();
  const [chat, setChat] = useState(false);
  const hasChat = useOpened(chat);
  useHotkeys({
    ...(agents && { 'mod+j': () => setChat(open => !open) }),
    'mod+k': () => setPalette(open => !open),
    '?': () => setHelp(true),
    '[': toggle,
    ...Object.fromEntries(
      [...main, ...settings, settingsHome].flatMap(page =>
        page.key ? [[`g ${page.key}`, () => router.push(page.href)]] : [],
      ),
    ),
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: the drawer closes whenever the page changes
  useEffect(() => setDrawer(false), [pathname]);

  const opening = { onSearch: () => setPalette(true), onHelp: () => setHelp(true) };
  return (
    <div className="flex min-h-dvh">
      <a
        href="#main"
        className="fixed top-2 left-2 z-50 -translate-y-16 rounded-md bg-accent px-3 py-2 font-medium text-on-accent focus:translate-y-0"
      >
        Skip to content
      </a>
      <aside
        className={cx(
          'sticky top-0 hidden h-dvh shrink-0 border-r bg-sunken transition-[width] duration-150 lg:block',
          collapsed ? 'w-14' : 'w-58',
        )}
      >
        <Sidebar collapsed={collapsed} onToggle={toggle} {...opening} />
      </aside>
      {hasDrawer ? (
        <Drawer open={drawer} onOpenChange={setDrawer}>
          <Sidebar {...opening} />
        </Drawer>
      ) : null}
      <div className="flex min-w-0 flex-1 flex-col lg:has-data-full-bleed:h-dvh">
        <header className="sticky top-0 z-30 flex h-12 items-center gap-2 border-b bg-bg px-2 lg:hidden">
          <IconButton label="Open navigation" tooltip={false} onClick={() => setDrawer(true)}>
            <MenuIcon aria-hidden className="size-4.5" />
          </IconButton>
          <Logo />
          <IconButton label="Search" tooltip={false} className="ml-auto" onClick={() => setPalette(true)}>
            <Search aria-hidden className="size-4.5" />
          </IconButton>
        </header>
        {notice}
        <main id="main" tabIndex={-1} className="flex min-h-0 min-w-0 flex-1 flex-col focus-visible:outline-none">
          {children}
        </main>
      </div>
      <BrowserNotifications />
      {hasChat ? <ChatPanel open={chat} onClose={() => setChat(false)} /> : null}
      {hasPalette ? <CommandPalette open={palette} onOpenChange={setPalette} onHelp={() => setHelp(true)} /> : null}
      {hasHelp ? <KeyboardHelp open={help} onOpenChange={setHelp} /> : null}
    </div>
  );
}
