import { keepCookie } from '../ui/browser-cookie.ts';

/** The two kinds of pages: a full-bleed page is an editor or the page of a run, and needs the room that the sidebar takes. */
type PageKind = 'page' | 'full-bleed';

/** The choice of a person for each kind of page in this browser; undefined where they have not chosen. */
export type SidebarChoices = Readonly<Record<PageKind, boolean | undefined>>;

/** Read by the server, so that the first paint has the sidebar as it stays. They hold no secret. */
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
  const read = (kind: PageKind) => {
    const value = cookie(SIDEBAR_COOKIES[kind]);
    return value === 'collapsed' ? true : value === 'open' ? false : undefined;
  };
  return { page: read('page'), 'full-bleed': read('full-bleed') };
}

/** Whether the sidebar is collapsed on a page: as chosen, else only where the page is full-bleed. */
export function isCollapsed(choices: SidebarChoices, pathname: string): boolean {
  const kind = pageKindOf(pathname);
  return choices[kind] ?? kind === 'full-bleed';
}

/** Keeps a choice in this browser. */
export function storeSidebarChoice(kind: PageKind, collapsed: boolean): void {
  keepCookie(SIDEBAR_COOKIES[kind], collapsed ? 'collapsed' : 'open');
}
