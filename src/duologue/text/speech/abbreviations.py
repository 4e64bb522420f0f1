"""Words that are written with a full stop which does not end a sentence, in English and German, in small letters and without
their last stop.

Owns the words alone; `sentences.py` says what follows from them.
"""

from __future__ import annotations

_NEVER = """
mr mrs ms dr prof rev hon gen col capt lt sgt sen rep gov pres st mt ft vs cf eg ie e.g i.e approx viz fig figs eq vol vols
pp ca al dept est tel ext resp incl
hr fr frl dipl ing nr abb bd bzw ggf evtl inkl exkl zzgl sog vgl geb gest z.b d.h u.a i.d.r z.t o.ä s.o s.u bspw einschl
mind str tsd
"""
_PERHAPS = """
etc inc ltd corp co jr sr a.m p.m am pm u.s u.k u.n ph.d b.c a.d min max avg misc jan feb mar apr jun jul aug sep sept oct
nov dec usw usf mio mrd std gmbh bsp ff zb dh
"""

NEVER_ENDING = frozenset(_NEVER.split())
"""Something always follows these."""
PERHAPS_ENDING = frozenset(_PERHAPS.split())
"""The next word tells: a sentence ended when it begins with a capital letter."""
