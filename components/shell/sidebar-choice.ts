import { keepCookie } from '../ui/browser-cookie.ts';

/** The two kinds of pages. A full-bleed page is an editor or the page of a run, and needs the space of the sidebar. */
type PageKind = 'page' | 'full-bleed';

/** The person's choice in this browser for each kind of page; undefined without a choice. */
export type SidebarChoices = Readonly<Record<PageKind, boolean | undefined>>;

/** The server reads these cookies, so that the first paint has the right sidebar. They contain no secret. */
export const SIDEBAR_COOKIES: Readonly<Record<PageKind, string>> = {
  page: 'baton_sidebar',
  'full-bleed': 'baton_sidebar_full_bleed',
};

const FULL_BLEED = [/^\/workflows\/(?!proposals(?:\/|$))[^/]+$/, /^\/workflows\/(?!proposals\/)[^/]+\/runs\/[^/]+$/];

/** Returns the kind of the page at a path. */
export function pageKindOf(pathname: string): PageKind {
  return FULL_BLEED.some(path => path.test(pathname)) ? 'full-bleed' : 'page';
}

/** Reads the choices from the cookies of this browser. */
export function readSidebarChoices(cookie: (name: string) => string | undefined): SidebarChoices {
  const readChoice = (kind: PageKind) => {
    const value = cookie(SIDEBAR_COOKIES[kind]);
    return value === 'collapsed' ? true : value === 'open' ? false : undefined;
  };
  return { page: readChoice('page'), 'full-bleed': readChoice('full-bleed') };
}

/** Returns true if the sidebar is collapsed on a page: by the person's choice, else if the page is full-bleed. */
export function isCollapsed(choices: SidebarChoices, pathname: string): boolean {
  const kind = pageKindOf(pathname);
  return choices[kind] ?? kind === 'full-bleed';
}

/** Stores a choice in this browser. */
export function storeSidebarChoice(kind: PageKind, collapsed: boolean): void {
  keepCookie(SIDEBAR_COOKIES[kind], collapsed ? 'collapsed' : 'open');
}
