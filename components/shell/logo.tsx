/** The symbol (a baton that is passed on) and the name. */
export function Logo() {
  return (
    <span className="inline-flex items-center gap-2 text-base font-semibold tracking-tight">
      <svg aria-hidden viewBox="0 0 32 32" fill="none" className="size-5">
        <rect width="32" height="32" rx="8" fill="#4f46e5" />
        <path d="M7 22.5 17.5 12" stroke="#fff" strokeWidth="5" strokeLinecap="round" />
        <path d="M14.5 20 25 9.5" stroke="#b9b5ff" strokeWidth="5" strokeLinecap="round" />
      </svg>
      Baton
    </span>
  );
}
