-- Facts that all nodes of a cluster share: a fingerprint of the master key, the public URL, the plans. No secrets.
CREATE TABLE "cluster" (
    "name" TEXT NOT NULL,
    "value" TEXT NOT NULL,
    CONSTRAINT "cluster_pkey" PRIMARY KEY ("name")
);

-- The nodes. A node is there while one of its sessions holds the advisory lock of its id.
CREATE TABLE "cluster_nodes" (
    "id" UUID NOT NULL,
    "url" TEXT NOT NULL,
    "level" INTEGER NOT NULL,
    "version" TEXT NOT NULL,
    "leads" BOOLEAN NOT NULL,
    "started_at" TIMESTAMPTZ(3) NOT NULL,
    CONSTRAINT "cluster_nodes_pkey" PRIMARY KEY ("id")
);
