import { LoaderCircle } from 'lucide-react';
import type { ComponentProps, MouseEvent, ReactNode } from 'react';
import { cx } from './classes.ts';
import { Link } from './link.tsx';
import { Tooltip } from './tooltip.tsx';

export type ButtonVariant = 'primary' | 'secondary' | 'ghost' | 'danger';
export type ButtonSize = 'sm' | 'md';

const variants: Record<ButtonVariant, string> = {
  primary: 'bg-accent text-on-accent hover:bg-accent-hover border border-transparent',
  secondary: 'bg-surface text-text border border-line hover:bg-hover shadow-sm',
  ghost: 'text-muted hover:text-text hover:bg-hover border border-transparent',
  danger: 'bg-surface text-bad border border-line hover:bg-bad-soft hover:border-bad',
};
const sizes: Record<ButtonSize, string> = { sm: 'h-7 px-2 text-xs gap-1', md: 'h-8 px-3 text-sm gap-1.5' };
const base =
  'inline-flex shrink-0 items-center justify-center rounded-md font-medium whitespace-nowrap select-none transition-colors disabled:opacity-55 disabled:pointer-events-none aria-disabled:opacity-55 aria-disabled:pointer-events-none';

/** Returns the class names of a button, for elements that are not buttons (links, file labels). */
export function buttonClass(variant: ButtonVariant = 'secondary', size: ButtonSize = 'md', extra?: string): string {
  return cx(base, variants[variant], sizes[size], extra);
}

type ButtonProps = ComponentProps<'button'> & {
  variant?: ButtonVariant;
  size?: ButtonSize;
  icon?: ReactNode;
  /** Shows progress and refuses clicks. Unlike a disabled button, the button keeps its width and its focus. */
  pending?: boolean;
};

/**
 * Prevents a refused click from submitting a form. Enter in a field of the form clicks the button, so it is prevented
 * as well.
 */
const refuseClick = (event: MouseEvent): void => event.preventDefault();

/** A push button. `type` defaults to `button`, so that no button submits a form by accident. */
export function Button({ variant, size, icon, pending, children, className, onClick, ...rest }: ButtonProps) {
  return (
    <button
      type="button"
      {...rest}
      onClick={pending ? refuseClick : onClick}
      aria-disabled={pending || undefined}
      aria-busy={pending || undefined}
      data-primary={variant === 'primary' || undefined}
      className={buttonClass(variant, size, className)}
    >
      {pending ? <LoaderCircle aria-hidden className="size-3.5 animate-spin" /> : icon}
      {children}
    </button>
  );
}

/** A link that looks like a button. */
export function ButtonLink({
  variant,
  size,
  icon,
  children,
  className,
  ...rest
}: ComponentProps<typeof Link> & { variant?: ButtonVariant; size?: ButtonSize; icon?: ReactNode }) {
  return (
    <Link {...rest} className={buttonClass(variant, size, className)}>
      {icon}
      {children}
    </Link>
  );
}

type IconButtonProps = Omit<ComponentProps<'button'>, 'aria-label'> & {
  /** The accessible name and the tooltip. */
  label: string;
  shortcut?: string;
  variant?: ButtonVariant;
  size?: ButtonSize;
  tooltip?: boolean;
};

/** A square button with an icon only; `label` is its accessible name. */
export function IconButton({
  label,
  shortcut,
  variant = 'ghost',
  size = 'md',
  tooltip = true,
  className,
  ...rest
}: IconButtonProps) {
  const button = (
    <button
      type="button"
      aria-label={label}
      {...rest}
      className={cx(base, variants[variant], size === 'sm' ? 'size-7' : 'size-8', className)}
    />
  );
  return tooltip ? (
    <Tooltip content={label} shortcut={shortcut}>
      {button}
    </Tooltip>
  ) : (
    button
  );
}
