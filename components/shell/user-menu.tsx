'use client';
import { ChevronsUpDown, CircleUser, Keyboard, LogOut } from 'lucide-react';
import dynamic from 'next/dynamic';
import { useRouter } from 'next/navigation';
import { useTheme } from 'next-themes';
import { useState } from 'react';
import { signOut } from '../auth/auth-requests.ts';
import { Menu, MenuChoice, MenuItem, MenuLabel, MenuSeparator } from '../ui/menu.tsx';
import { toastError } from '../ui/toaster.tsx';
import { useOpened } from '../ui/use-opened.ts';
import { useSession } from './session.tsx';

const loadDialog = () => import('../auth/sign-out-dialog.tsx');
const SignOutDialog = dynamic(() => loadDialog().then(module => module.SignOutDialog), { ssr: false });

export const themes = [
  { value: 'system', label: 'Follow the system' },
  { value: 'light', label: 'Light' },
  { value: 'dark', label: 'Dark' },
] as const;

/** The signed-in user's menu: profile, theme, keyboard help, sign out. */
export function UserMenu({ onHelp, collapsed = false }: { onHelp: () => void; collapsed?: boolean }) {
  const { me } = useSession();
  const { theme, setTheme } = useTheme();
  const router = useRouter();
  const [unsaved, setUnsaved] = useState(0);
  const hasDialog = useOpened(unsaved > 0);
  const leave = async () => {
    const [{ countUnsaved }] = await Promise.all([import('../auth/sign-out.ts'), loadDialog()]);
    const count = await countUnsaved(me.user.id);
    if (count > 0) setUnsaved(count);
    else await signOut();
  };
  return (
    <>
      <Menu
        side="top"
        align="start"
        trigger={
          <button
            type="button"
            aria-label={`Account of ${me.user.name}`}
            className="flex shrink-0 items-center gap-2 h-10 rounded-md px-0.5 text-left hover:bg-hover focus-visible:-outline-offset-2"
          >
            <span
              aria-hidden
              className="flex size-7 shrink-0 items-center justify-center rounded-full border bg-surface text-xs font-semibold uppercase"
            >
              {me.user.name.slice(0, 1)}
            </span>
            {collapsed ? null : (
              <>
                <span className="min-w-0 flex-1">
                  <span className="block truncate text-sm leading-4 font-medium">{me.user.name}</span>
                  <span className="block truncate text-xs text-muted">{me.user.email}</span>
                </span>
                <ChevronsUpDown aria-hidden className="mr-1 size-3.5 shrink-0 text-faint" />
              </>
            )}
          </button>
        }
      >
        <MenuItem
          icon={<CircleUser aria-hidden className="size-3.5" />}
          onSelect={() => router.push('/settings/profile')}
        >
          Profile
        </MenuItem>
        <MenuItem icon={<Keyboard aria-hidden className="size-3.5" />} shortcut="?" onSelect={onHelp}>
          Keyboard shortcuts
        </MenuItem>
        <MenuSeparator />
        <MenuLabel>Theme</MenuLabel>
        {themes.map(option => (
          <MenuChoice key={option.value} checked={theme === option.value} onSelect={() => setTheme(option.value)}>
            {option.label}
          </MenuChoice>
        ))}
        <MenuSeparator />
        <MenuItem icon={<LogOut aria-hidden className="size-3.5" />} onSelect={() => void leave().catch(toastError)}>
          Sign out
        </MenuItem>
      </Menu>
      {hasDialog ? <SignOutDialog user={me.user.id} unsaved={unsaved} onClose={() => setUnsaved(0)} /> : null}
    </>
  );
}
