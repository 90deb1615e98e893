import type { Metadata } from 'next';
import { McpServers } from '@/components/mcp-servers/mcp-servers.tsx';

export const metadata: Metadata = { title: 'MCP servers' };

export default function McpServersPage() {
  return <McpServers />;
}
