"""The recorded history of what is watched: one SQLite file per gateway, no terminal.

``archive.Archive`` opens a file, ``recorder.Recorder`` fills it from feeds, and
``reader.HistoryReader`` answers what was.
"""
