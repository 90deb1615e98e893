import type { Metadata } from 'next';
import { container } from '@/app/container.ts';
import { ForgotPasswordForm } from '@/components/auth/forgot-password-form.tsx';

export const metadata: Metadata = { title: 'Forgot password' };
// Read from the running service, because the setting is not known at build time.
export const dynamic = 'force-dynamic';

export default function ForgotPasswordPage() {
  return <ForgotPasswordForm mail={container().services.mail !== null} />;
}
