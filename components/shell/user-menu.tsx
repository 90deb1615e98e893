'use client';
import { ChevronsUpDown, CircleUser, Keyboard, LogOut } from 'lucide-react';
import { useRouter } from 'next/navigation';
import { useTheme } from 'next-themes';
import { useSession } from '../session/session.tsx';
import { Menu, MenuChoice, MenuItem, MenuLabel, MenuSeparator } from '../ui/menu.tsx';
import { useSignOut } from './use-sign-out.tsx';

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
  const { leave, dialog } = useSignOut();
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
        <MenuItem icon={<LogOut aria-hidden className="size-3.5" />} onSelect={leave}>
          Sign out
        </MenuItem>
      </Menu>
      {dialog}
    </>
  );
}
