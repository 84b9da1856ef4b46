"""The recorded history: one SQLite file per gateway.

``archive.Archive`` opens the file, ``recorder.Recorder`` fills it from feeds, and
``reader.HistoryReader`` reads it.
"""
