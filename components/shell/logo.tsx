/** The mark and the name. */
export function Logo() {
  return (
    <span className="inline-flex items-center gap-2 text-base font-semibold tracking-tight">
      <svg aria-hidden viewBox="0 0 32 32" className="size-5">
        <rect width="32" height="32" rx="8" fill="#4f46e5" />
        <path d="M9 23 23 9" stroke="#fff" strokeWidth="4" strokeLinecap="round" />
        <circle cx="9.5" cy="10.5" r="2.5" fill="#fff" />
        <circle cx="22.5" cy="21.5" r="2.5" fill="#fff" />
      </svg>
      Baton
    </span>
  );
}
