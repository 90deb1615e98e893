-- Which models answer where nobody names one; null: the first one that has a key.
ALTER TABLE "chat_settings" ADD COLUMN "assistant_model" TEXT, ADD COLUMN "autopilot_model" TEXT, ADD COLUMN "extraction_model" TEXT;
