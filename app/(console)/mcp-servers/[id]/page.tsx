import type { Metadata } from 'next';
import { ServerPage } from '@/components/mcp-servers/server-page.tsx';

export const metadata: Metadata = { title: 'MCP server' };

export default async function Page({ params }: { params: Promise<{ id: string }> }) {
  const { id } = await params;
  return <ServerPage id={id} />;
}
