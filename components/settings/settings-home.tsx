'use client';
import { groupsOf } from '../shell/pages.ts';
import { SETTINGS_DESCRIPTIONS } from '../shell/settings-descriptions.ts';
import { usePages } from '../shell/use-pages.ts';
import { Link } from '../ui/link.tsx';
import { Page, PageHeader } from '../ui/page.tsx';

/** All settings that this user may open, each with a description. */
export function SettingsHome() {
  const { settings } = usePages();
  return (
    <Page>
      <PageHeader title="Settings" description="Of the workspace, of your account, and for programs." />
      <div className="flex flex-col gap-6">
        {groupsOf(settings).map(({ label, pages }) => (
          <section key={label} aria-label={label}>
            <h2 className="mb-2 text-lg font-semibold">{label}</h2>
            <ul className="grid gap-3 sm:grid-cols-2 xl:grid-cols-3">
              {pages.map(({ href, icon: Icon, label: title }) => (
                <li key={href} className="flex">
                  <Link
                    href={href}
                    className="flex flex-1 items-start gap-3 rounded-lg border bg-surface p-3 shadow-sm hover:border-line-strong"
                  >
                    <Icon aria-hidden className="mt-0.5 size-4 shrink-0 text-muted" />
                    <span>
                      <span className="block font-medium">{title}</span>
                      <span className="block text-sm text-muted">{SETTINGS_DESCRIPTIONS[href]}</span>
                    </span>
                  </Link>
                </li>
              ))}
            </ul>
          </section>
        ))}
      </div>
    </Page>
  );
}
